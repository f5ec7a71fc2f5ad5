// What every page can do: keys, the list of keys, a filter of lists, and the progress of a run.
import { CRITERIA, pressNote, showReason, showReasonsIn } from "./reason.js";
import { openTable } from "./table.js";

const help = document.getElementById("help");
const helpButton = document.querySelector("[data-help]");
helpButton.addEventListener("click", () => help.showModal());

const grid = document.getElementById("cases-grid");
const table = grid ? openTable(grid, document.getElementById("filters")) : null;

// Rows of plain tables that j and k move through.
const openable = () => [...document.querySelectorAll("tr[data-row]")].filter((row) => row.querySelector("a[data-open]"));
let rows = openable();
let selected = -1;

function select(index) {
  const shown = rows.filter((row) => !row.hidden);
  if (shown.length === 0) return;
  const at = Math.max(0, Math.min(index, shown.length - 1));
  rows.forEach((row) => row.classList.remove("selected"));
  selected = at;
  shown[at].classList.add("selected");
  shown[at].querySelector("a[data-open]").focus({ preventScroll: true });
  shown[at].scrollIntoView({ block: "nearest" });
}

// Criteria of a case, where there is no list.
const criteria = [...document.querySelectorAll(".criterion")];

function step(by) {
  const link = document.querySelector(by > 0 ? "a[data-next]" : "a[data-prev]");
  if (link) location.assign(link.href);
  else if (rows.length > 0) select(selected + by);
}

// A case of a comparison leads to its neighbours in the list that it was opened from, and back to that list as it was.
const STEPS = "assize.steps";
const stepLinks = [...document.querySelectorAll("a[data-step]")].map((link) => link.getAttribute("href"));
const steps = document.querySelector("[data-steps]");
if (stepLinks.length > 0) {
  sessionStorage.setItem(STEPS, JSON.stringify({ list: location.pathname + location.search, links: stepLinks }));
} else if (steps) {
  const { list, links } = JSON.parse(sessionStorage.getItem(STEPS)) ?? { links: [] };
  const at = links.indexOf(location.pathname + location.search);
  const lead = (link, rel, text, mark) => {
    if (!link) return [];
    const made = Object.assign(document.createElement("a"), { href: link, rel, textContent: text });
    made.setAttribute(mark, "");
    return [made];
  };
  if (at >= 0) {
    const place = Object.assign(document.createElement("span"), { className: "dim", textContent: `${at + 1} of ${links.length}` });
    steps.append(...lead(links[at - 1], "prev", "← Previous", "data-prev"), place, ...lead(links[at + 1], "next", "Next →", "data-next"));
    steps.hidden = false;
    document.querySelector("a[data-up]").href = list;
  }
}

function follow(selector) {
  const link = document.querySelector(selector);
  if (link) location.assign(link.href);
}

// The case of a criterion side by side or of its own page, and what is to be done when its decisions were marked: what changed on the
// page is read again.
function sourceOf(cell) {
  const parts = matrix ? ".matrix .cells" : ".criterion";
  const { mark } = (matrix ? cell.closest(".trial") : document).querySelector("[data-mark]").dataset;
  return { url: mark, onChange: () => readAgain(parts) };
}
async function readAgain(parts) {
  const reply = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!reply?.ok) return;
  const next = new DOMParser().parseFromString(await reply.text(), "text/html").querySelectorAll(parts);
  document.querySelectorAll(parts).forEach((part, at) => {
    if (next[at] && part.innerHTML !== next[at].innerHTML) part.replaceChildren(...next[at].childNodes);
  });
}
const matrix = document.querySelector(".matrix");
if (matrix) showReasonsIn(matrix, sourceOf);

// Marks the decisions on a case: of the cell that has the focus or was clicked, or of the case that the page is about.
function mark(button) {
  if (!button) return;
  const active = document.activeElement.closest(CRITERIA);
  const cell = active ?? (button.closest(".trial") ?? document).querySelector(CRITERIA);
  if (cell) showReason(cell, { ...sourceOf(cell), takesFocus: true });
}
document.addEventListener("click", ({ target }) => mark(target.closest("[data-mark]")));
const markFocused = () => mark((document.activeElement.closest(".trial") ?? document).querySelector("[data-mark]"));

function isTyping(target) {
  return target.matches("select, textarea, input:not([type=checkbox], [type=radio])");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const { key, target } = event;
  if (key === "Escape" && isTyping(target)) {
    target.blur();
    if (table) table.focus();
    return;
  }
  if (isTyping(target)) return;

  const actions = {
    "?": () => help.showModal(),
    "/": () => document.querySelector("[data-search]")?.focus(),
    u: () => follow("a[data-up]"),
    j: () => (table ? table.move(1) : step(1)),
    k: () => (table ? table.move(-1) : step(-1)),
    g: () => (table ? table.moveTo(0) : rows.length ? select(0) : scrollTo(0, 0)),
    G: () => (table ? table.moveTo(Infinity) : select(rows.length - 1)),
    m: () => !table && markFocused(),
    c: () => focusCriterion(1),
    C: () => focusCriterion(-1),
  };
  if (Object.hasOwn(actions, key)) {
    event.preventDefault();
    actions[key]();
  } else if (!table && pressNote(key)) event.preventDefault();
});

function focusCriterion(by) {
  if (criteria.length === 0) return;
  const at = criteria.indexOf(document.activeElement);
  const next = criteria[(at + by + criteria.length) % criteria.length];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

// Filters a list as it is typed; the form does the same without script.
const filter = document.querySelector("[data-filter-rows]");
function filterRows() {
  const wanted = filter.value.toLowerCase();
  const body = document.getElementById(filter.dataset.filterRows)?.tBodies[0];
  for (const row of body?.rows ?? []) row.hidden = !row.textContent.toLowerCase().includes(wanted);
}
filter?.addEventListener("input", () => {
  filterRows();
  selected = -1;
});

// The list of runs is asked for again and again: new runs appear, and those that go on have new numbers.
const list = document.querySelector("[data-list]");
let listed = list?.innerHTML.trim();
async function watchList() {
  const begun = performance.now();
  try {
    const reply = document.hidden ? null : await fetch(location.href, { headers: { Accept: "text/html" } });
    const next = reply?.ok
      ? new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("[data-list]")
      : null;
    if (next && next.innerHTML.trim() !== listed) replaceList(next);
  } catch {
    // The server may be started again.
  }
  setTimeout(watchList, Math.max(2000, 4 * (performance.now() - begun)));
}

// What was checked, selected and in focus stays so.
function replaceList(next) {
  listed = next.innerHTML.trim();
  const checked = [...list.querySelectorAll("input:checked")].map((box) => box.value);
  const chosen = list.querySelector("tr.selected a[data-open]")?.getAttribute("href");
  const active = list.contains(document.activeElement) ? document.activeElement : null;
  const focused = active && [active.tagName, active.getAttribute("href") ?? active.getAttribute("value")];
  const scrolled = list.querySelector(".scroll")?.scrollLeft ?? 0;
  list.replaceChildren(...next.childNodes);
  for (const box of list.querySelectorAll("input[type=checkbox]")) box.checked = checked.includes(box.value);

  rows = openable();
  if (filter.value) filterRows();
  const shown = rows.filter((row) => !row.hidden);
  selected = shown.findIndex((row) => row.querySelector("a[data-open]").getAttribute("href") === chosen);
  shown[selected]?.classList.add("selected");
  const region = list.querySelector(".scroll");
  if (region) region.scrollLeft = scrolled;
  if (!focused) return;
  const same = (element) => (element.getAttribute("href") ?? element.getAttribute("value")) === focused[1];
  [...list.querySelectorAll(focused[0])].find(same)?.focus({ preventScroll: true });
}
if (list) setTimeout(watchList, 2000);

// A run that goes on is asked for again and again; the page is loaded again when it has ended, for its summary.
const live = document.querySelector("[data-live]");
async function watch() {
  const begun = performance.now();
  try {
    const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (reply.ok) {
      const next = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("[data-live]");
      if (!next) return location.reload();
      const focused = live.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      live.replaceChildren(...next.childNodes);
      if (focused) [...live.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    }
  } catch {
    // The server may be started again.
  }
  // A run of very many cases takes a while to sum up.
  setTimeout(watch, Math.max(1000, 4 * (performance.now() - begun)));
}
if (live) setTimeout(watch, 1000);
