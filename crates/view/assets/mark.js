// Marks the decisions of a judge right or wrong, in a dialog over the page. A mark is a label, like those of a review.
import { post } from "./post.js";

// Where the name of the person is kept.
const NAME = "assize.reviewer";

function knownName() {
  try {
    return localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}

// Opens the dialog at a criterion. `onChange` is called when it is closed, if something was marked.
export async function openMarks(url, at, onChange) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "marks-title");
  dialog.className = "marks-box";
  let isChanged = false;

  async function load() {
    const reply = await fetch(`${url}?who=${encodeURIComponent(knownName())}`);
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    dialog.replaceChildren(...(page.querySelector("form.marks, main") ?? page.body).childNodes);
  }
  const items = () => [...dialog.querySelectorAll("fieldset")];
  const current = () => document.activeElement?.closest("fieldset") ?? items()[0];

  async function mark(button) {
    const item = button.closest("fieldset");
    const who = dialog.querySelector("[name=who]");
    const alert = dialog.querySelector("[role=alert]");
    if (!who.reportValidity()) return;
    const drafts = new Map(items().map((one) => [one.dataset.item, one.querySelector("textarea").value]));
    try {
      const note = drafts.get(item.dataset.item);
      await post(url, { who: who.value, item: item.dataset.item, label: button.value, note });
    } catch (error) {
      alert.textContent = `Not saved: ${error.message}.`;
      alert.hidden = false;
      return;
    }
    isChanged = true;
    try {
      localStorage.setItem(NAME, who.value);
    } catch {}
    await load();
    for (const one of items()) one.querySelector("textarea").value = drafts.get(one.dataset.item) ?? "";
    items().find((one) => one.dataset.item === item.dataset.item)?.focus();
  }

  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest(".go")) {
      event.preventDefault();
      dialog.close();
    }
    const button = event.target.closest("fieldset .act");
    if (button) mark(button);
  });
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("textarea, input")) {
      if (key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        (target.closest("fieldset") ?? items()[0])?.focus();
      }
      return;
    }
    const move = (by) => items()[items().indexOf(current()) + by]?.focus();
    const acts = {
      "+": () => current()?.querySelector("[data-right]")?.click(),
      "-": () => current()?.querySelector("[data-wrong]")?.click(),
      e: () => current()?.querySelector("textarea").focus(),
      j: () => move(1),
      k: () => move(-1),
    };
    if (!Object.hasOwn(acts, key)) return;
    event.preventDefault();
    acts[key]();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (isChanged) onChange();
  });

  await load().catch(() => (dialog.textContent = "The server does not answer; start it again and reload."));
  document.body.append(dialog);
  dialog.showModal();
  const unnamed = dialog.querySelector("[data-unnamed]");
  const first = items().find((one) => at !== undefined && one.dataset.at === String(at)) ?? items()[0];
  (unnamed ?? first)?.focus();
}
