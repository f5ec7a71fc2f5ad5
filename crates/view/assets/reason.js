// What the server wrote about a case: its whole texts, and its criteria with their reasons. The reason of a criterion is shown
// beside its cell.

// Time that a pointer rests on a criterion before its reason is shown, in milliseconds.
const REST = 150;
// Cases that are kept.
const MOST = 50;

const peeks = new Map();
const note = Object.assign(document.createElement("div"), { id: "criterion-note", className: "criterion-note", hidden: true });
note.setAttribute("role", "status");
document.body.append(note);

export function peek(url) {
  if (!peeks.has(url)) {
    if (peeks.size > MOST) peeks.delete(peeks.keys().next().value);
    const reply = fetch(`${url}/peek`).then((reply) => (reply.ok ? reply.text() : ""));
    peeks.set(url, reply.catch(() => ""));
  }
  return peeks.get(url).then((text) => new DOMParser().parseFromString(text, "text/html").body);
}

export const forget = (url) => peeks.delete(url);

export const hideReason = () => (note.hidden = true);

export async function showReason(cell, url) {
  if (!url || cell.dataset.at === undefined) return;
  const shown = await peek(url);
  const about = shown.querySelectorAll(".peek-criterion")[Number(cell.dataset.at)];
  if (!about || !cell.isConnected) return;
  note.replaceChildren(...about.cloneNode(true).childNodes);
  note.hidden = false;
  const { left, top, bottom } = cell.getBoundingClientRect();
  note.style.left = `${Math.max(8, Math.min(left, innerWidth - note.offsetWidth - 8))}px`;
  const isBelow = bottom + note.offsetHeight + 8 < innerHeight;
  note.style.top = `${isBelow ? bottom + 4 : Math.max(8, top - note.offsetHeight - 4)}px`;
}

// Shows the reason of the criterion that a pointer rests on. `urlOf` returns the address of its case.
export function showReasonsIn(root, urlOf) {
  let resting;
  const rest = (cell) => {
    clearTimeout(resting);
    if (cell) resting = setTimeout(() => showReason(cell, urlOf(cell)), REST);
    else hideReason();
  };
  root.addEventListener("pointerover", ({ target }) => rest(target.closest(".criterion-cell")));
  root.addEventListener("pointerleave", () => rest(null));
}
