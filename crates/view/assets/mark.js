// Marks of people on the decisions of a judge. A mark is a label, like those of a review.
import { post } from "./post.js";

// Where the name of the person is kept.
const NAME = "assize.reviewer";
// Time that a message is shown, in milliseconds.
const SHOWN = 6000;

// What can be marked, by the address of the case.
const pages = new Map();
// What this page wrote, oldest first: the last of it can be taken back.
const written = [];

const message = Object.assign(document.createElement("p"), { className: "mark-message" });
message.setAttribute("role", "status");
document.getElementById("main").append(message);
let shown;
export function say(text) {
  message.textContent = text;
  clearTimeout(shown);
  shown = setTimeout(() => (message.textContent = ""), SHOWN);
}

function knownName() {
  try {
    return localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}

// The fields of the decision that a criterion shows, in the text of a page; `null` if it can't be marked. A grader without
// criteria shows a decision on all of its case.
export async function fieldsOf({ at, name = "" }, url) {
  if (!pages.has(url)) {
    const reply = fetch(`${url}/mark?who=${encodeURIComponent(knownName())}`);
    pages.set(url, reply.then((reply) => (reply.ok ? reply.text() : "")).catch(() => ""));
  }
  const fields = new DOMParser().parseFromString(await pages.get(url), "text/html").querySelector(".marks");
  const items = [...(fields?.querySelectorAll("fieldset") ?? [])];
  const isNamed = (item) => `/${name}`.endsWith(`/${item.dataset.name}`);
  let own = items.filter((item) => (at === undefined ? isNamed(item) : item.dataset.at === at));
  if (own.length === 0) own = items.filter((item) => item.dataset.at === undefined);
  for (const item of items) if (!own.includes(item)) item.remove();
  return own.length > 0 ? fields : null;
}

// Sends a mark. `onChange` is called then, and again when it is taken back.
export async function mark({ url, who, item, label, note, words, onChange }) {
  try {
    const reply = await post(`${url}/mark`, { who, item, label, note });
    if (reply.written) written.push({ url, who, item, words, onChange });
  } catch (error) {
    return say(`Not saved: ${error.message}.`);
  }
  try {
    localStorage.setItem(NAME, who);
  } catch {}
  pages.delete(url);
  say(`Marked ${words}.`);
  await onChange();
}

export const canUndo = (url, item) => written.at(-1)?.url === url && written.at(-1).item === item;

// Takes back what was written last, and returns the address of its case.
export async function undo() {
  const { url, who, item, words, onChange } = written.at(-1) ?? {};
  if (!url) return say("Nothing is left to take back.");
  try {
    await post(`${url}/mark`, { who, item });
  } catch (error) {
    if (!error.again) written.length = 0;
    return say(`Not taken back: ${error.message}.`);
  }
  written.pop();
  pages.delete(url);
  say(`Taken back: ${words}.`);
  await onChange();
  return url;
}
