// What the server wrote about a case: its whole texts, and its criteria with their reasons. The reason of a criterion is shown
// beside its cell, with what marks it right or wrong.
import { canUndo, fieldsOf, mark, say, undo } from "./mark.js";

// Time that a pointer rests on a criterion before its reason is shown, in milliseconds.
const REST = 150;
// Time to reach the note with the pointer, in milliseconds.
const WAY = 300;
// Cases that are kept.
const MOST = 50;
// Criteria, and what holds those of one case.
export const CRITERIA = ".criterion-cell, .criterion";
const GROUPS = ".of-criteria, .cells, main";

const peeks = new Map();
const note = Object.assign(document.createElement("div"), { id: "criterion-note", className: "criterion-note", hidden: true, tabIndex: -1 });
note.setAttribute("role", "group");
note.setAttribute("aria-label", "Reason and marks");
document.getElementById("main").append(note);
// The criterion that the note is about: its place in a group, the address of its case, and what to do when it was marked.
let about = null;
// What had the focus before the note.
let origin = null;
let resting;

const hasFocus = () => note.contains(document.activeElement);

export function peek(url) {
  if (!peeks.has(url)) {
    if (peeks.size > MOST) peeks.delete(peeks.keys().next().value);
    const reply = fetch(`${url}/peek`).then((reply) => (reply.ok ? reply.text() : ""));
    peeks.set(url, reply.catch(() => ""));
  }
  return peeks.get(url).then((text) => new DOMParser().parseFromString(text, "text/html").body);
}

export function hideReason() {
  clearTimeout(resting);
  const isLeft = hasFocus();
  about = null;
  note.hidden = true;
  if (isLeft) origin?.focus({ preventScroll: true });
}

// Shows the reason of a criterion, and what marks it; with the focus in the note if it is asked for. A criterion that says its
// reason itself gets what marks it.
export async function showReason(cell, { url, onChange, takesFocus = false }) {
  const group = cell?.closest(GROUPS);
  if (!url || !group) return;
  clearTimeout(resting);
  const next = { group, index: [...group.querySelectorAll(CRITERIA)].indexOf(cell), data: { ...cell.dataset }, url, onChange };
  about = next;
  if (!(await fill()) || about !== next) return;
  note.hidden = false;
  const { left, top, bottom } = cell.getBoundingClientRect();
  note.style.left = `${Math.max(8, Math.min(left, innerWidth - note.offsetWidth - 8))}px`;
  const isBelow = bottom + note.offsetHeight + 8 < innerHeight;
  note.style.top = `${isBelow ? bottom + 2 : Math.max(8, top - note.offsetHeight - 2)}px`;
  if (takesFocus) note.focus({ preventScroll: true });
}

async function fill() {
  const { data, url, group } = about;
  const now = about;
  const [page, fields] = await Promise.all([peek(url), fieldsOf(data, url)]);
  if (about !== now) return false;
  const said = group.matches("main") || data.at === undefined ? null : page.querySelectorAll(".peek-criterion")[Number(data.at)];
  if (!said && !fields) {
    if (group.matches("main")) say("No judge and no person decided this criterion, so there is nothing to mark.");
    return false;
  }
  if (hasFocus()) note.focus({ preventScroll: true });
  const reason = document.createElement("div");
  reason.setAttribute("role", "status");
  reason.append(...(said?.cloneNode(true).childNodes ?? []));
  note.replaceChildren(...(fields ? [fields] : []), reason);
  for (const item of note.querySelectorAll("fieldset")) {
    for (const button of item.querySelectorAll(".act")) button.setAttribute("aria-pressed", button.value === item.dataset.own);
    if (!canUndo(url, item.dataset.item)) continue;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "act undo", textContent: "Undo " });
    button.append(Object.assign(document.createElement("kbd"), { textContent: "z" }));
    item.querySelector(".acts").append(button);
  }
  const name = note.querySelector("[name=who]:not([data-unnamed])");
  if (name) name.closest("p").hidden = true;
  return true;
}

// Sends the mark of a field. The name of the person is asked for once, before the first mark.
let waiting = null;
async function send(item, label) {
  const who = note.querySelector("[name=who]");
  if (who.hasAttribute("data-unnamed") || !who.value.trim()) {
    waiting = () => send(item, label);
    say("Enter your name first: it is asked for once.");
    return who.focus();
  }
  waiting = null;
  const { url, onChange } = about;
  const words = `${item.dataset.name}: ${label.replace("_", " ")}`;
  const text = item.querySelector("textarea")?.value ?? "";
  await mark({ url, who: who.value, item: item.dataset.item, label, note: text, words, onChange });
  if (about) await fill();
}

async function takeBack() {
  await undo();
  if (about) await fill();
}

function saveNote(field) {
  const item = field.closest("fieldset");
  if (field.value === field.defaultValue) return;
  field.defaultValue = field.value;
  send(item, item.dataset.own);
}

// Moves to another criterion of the case.
function step(by) {
  const { group, index, url, onChange } = about;
  const cell = group.querySelectorAll(CRITERIA)[index + by];
  if (cell) showReason(cell, { url, onChange, takesFocus: hasFocus() });
}

// Keys of the note that is shown. Returns true if the key was one of them.
export function pressNote(key) {
  const acts = {
    "+": () => note.querySelector("[data-right]")?.click(),
    // A wrong score leaves the choice of another one.
    "-": () => (note.querySelector("[data-wrong]") ? note.querySelector("[data-wrong]").click() : note.querySelector(".act:not([data-right])")?.focus()),
    e: () => note.querySelector("textarea")?.focus(),
  };
  if (key === "z") takeBack();
  else if (about && Object.hasOwn(acts, key)) acts[key]();
  else return false;
  return true;
}

note.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.matches(".undo")) takeBack();
  else if (button) send(button.closest("fieldset"), button.value);
});
// A click leaves the focus where it was, so that the pointer can go on to the next criterion.
note.addEventListener("mousedown", (event) => {
  if (event.target.closest("button")) event.preventDefault();
});
note.addEventListener("focusin", ({ relatedTarget }) => {
  if (relatedTarget && !note.contains(relatedTarget)) origin = relatedTarget;
});
note.addEventListener("focusout", ({ target, relatedTarget }) => {
  if (target.matches("textarea")) saveNote(target);
  if (!note.contains(relatedTarget) && document.hasFocus()) hideReason();
});
note.addEventListener("keydown", (event) => {
  const { key, target } = event;
  event.stopPropagation();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches("textarea, input")) {
    if ((key !== "Enter" || event.shiftKey) && key !== "Escape") return;
    event.preventDefault();
    note.focus();
    if (key === "Enter" && target.matches("input") && target.value.trim()) {
      target.removeAttribute("data-unnamed");
      waiting?.();
    }
    return;
  }
  const moves = { ArrowRight: 1, j: 1, ArrowLeft: -1, k: -1 };
  if (key === "Escape") hideReason();
  else if (Object.hasOwn(moves, key)) step(moves[key]);
  else if (!pressNote(key)) return;
  event.preventDefault();
});
note.addEventListener("pointerenter", () => clearTimeout(resting));
note.addEventListener("pointerleave", () => rest(hideReason, WAY));

function rest(act, time) {
  clearTimeout(resting);
  resting = setTimeout(() => hasFocus() || act(), time);
}

// Shows the reason of the criterion that a pointer rests on; a click puts the focus there. `sourceOf` returns the address of its
// case, and what to do when it was marked.
export function showReasonsIn(root, sourceOf) {
  root.addEventListener("pointerover", ({ target, pointerType }) => {
    const cell = target.closest(".criterion-cell");
    if (cell && pointerType === "mouse") rest(() => showReason(cell, sourceOf(cell)), REST);
    else if (about) rest(hideReason, WAY);
  });
  root.addEventListener("pointerleave", () => about && rest(hideReason, WAY));
  root.addEventListener("click", ({ target }) => {
    const cell = target.closest(".criterion-cell");
    if (cell) showReason(cell, { ...sourceOf(cell), takesFocus: true });
  });
}
