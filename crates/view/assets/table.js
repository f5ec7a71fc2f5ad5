// The table of cases: only the rows on screen are drawn, and only those around them are asked for.

// As many rows come with the page itself.
const PAGE = 100;
// Time after which the rows of before are marked as old ones, in milliseconds.
const SLOW = 200;
// Browsers draw no element that is higher than some millions of pixels.
const MAX_HEIGHT = 12_000_000;

const SIGNS = { "+": ["good", "✓"], "-": ["bad", "✗"], "?": ["open", "?"], "~": ["dim", "–"], "*": ["middling", "•"] };
const VERDICTS = {
  pass: ["good", "✓"],
  borderline: ["middling", "≈"],
  fail: ["bad", "✗"],
  incomplete: ["open", "?"],
  skipped: ["open", "–"],
};

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

export function openTable(root, form) {
  const rowsUrl = root.dataset.rows;
  const caseUrl = root.dataset.case;
  const found = document.getElementById("found");
  const hasSuite = root.classList.contains("with-suite");
  const hasTarget = root.classList.contains("with-target");
  const columns = [
    ["Verdict", "of-verdict"],
    ["Score", "of-score num"],
    ["Case", "of-case"],
    ...(hasSuite ? [["Suite", "of-suite"]] : []),
    ...(hasTarget ? [["Target", "of-target"]] : []),
    ["Criteria", "of-criteria"],
    ["Failed gates, unmet, penalties", "of-missed"],
    ["Tags", "of-tags"],
    ["Cost", "of-cost num"],
    ["Time", "of-time num"],
  ];

  let count = Number(root.dataset.total);
  let selected = -1;
  let query = readForm();
  let version = 0;
  const pages = new Map();

  root.setAttribute("role", "grid");
  root.setAttribute("aria-label", "Cases");
  root.setAttribute("aria-colcount", columns.length);
  // The grid has the focus and names the row that is selected, which the group of its rows may not.
  root.tabIndex = 0;
  root.hidden = false;
  const head = element("div", "grid-row grid-head");
  head.setAttribute("role", "row");
  head.setAttribute("aria-rowindex", 1);
  for (const [name, className] of columns) {
    const cell = element("div", className, name);
    cell.setAttribute("role", "columnheader");
    head.append(cell);
  }
  const headGroup = element("div");
  headGroup.setAttribute("role", "rowgroup");
  headGroup.append(head);
  const view = element("div", "grid-view");
  view.tabIndex = -1;
  view.setAttribute("role", "rowgroup");
  view.setAttribute("aria-label", "Rows of cases");
  const body = element("div", "grid-body");
  body.setAttribute("role", "presentation");
  view.append(body);
  root.append(headGroup, view);

  function readForm() {
    const values = new URLSearchParams();
    for (const [key, value] of new FormData(form)) if (value) values.append(key, value);
    if (values.get("sort") === "place") values.delete("sort");
    return values.toString();
  }

  // Rows have two lines in narrow windows.
  const readHeight = () => parseFloat(getComputedStyle(root).getPropertyValue("--row"));
  let rowHeight = readHeight();

  // A window over the rows; with very many of them the scroll bar stands for more than a row in a pixel.
  const scale = () => Math.max(1, (count * rowHeight) / MAX_HEIGHT);
  const firstRow = () => Math.floor((view.scrollTop * scale()) / rowHeight);

  // Rows of a page of the list, or null: where the form has changed meanwhile, and where the server is gone.
  async function request(page) {
    const asked = version;
    try {
      const reply = await fetch(`${rowsUrl}?${query}${query ? "&" : ""}from=${page * PAGE}&count=${PAGE}`);
      if (reply.status === 404) {
        if (asked === version) found.textContent = "The run is gone: its folder was removed or renamed.";
        return null;
      }
      if (!reply.ok) {
        if (asked === version) found.textContent = "The cases can't be read. Reload this page to see why.";
        return null;
      }
      const data = await reply.json();
      return asked === version ? data : null;
    } catch {
      if (asked === version) found.textContent = "The server does not answer; start it again and reload.";
      return null;
    }
  }

  async function load(page) {
    if (pages.has(page)) return;
    const asked = version;
    pages.set(page, null);
    const data = await request(page);
    if (data) take(page, data);
    else if (asked === version) pages.delete(page);
  }

  function take(page, data) {
    pages.set(page, data.rows);
    if (data.found !== count) resize(data.found);
    const text = `${data.found.toLocaleString("en")} of ${data.total.toLocaleString("en")} cases`;
    draw();
    found.textContent = text;
  }

  function resize(rows) {
    count = rows;
    root.setAttribute("aria-rowcount", count + 1);
    body.style.height = `${Math.min(count * rowHeight, MAX_HEIGHT)}px`;
    if (selected >= count) selected = count - 1;
  }

  function rowAt(index) {
    return pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  // Marks by their text: there are few different ones, and copies are made faster than the first.
  const marksByText = new Map();
  function criteriaMarks(text) {
    const known = marksByText.get(text);
    if (known) return known.cloneNode(true);

    const cell = element("span", "marks");
    const words = { "+": "met or avoided", "-": "unmet or incurred", "?": "ungraded", "~": "does not apply", "*": "scored" };
    for (const sign of text.slice(0, 24)) {
      const [className, shown] = SIGNS[sign] ?? ["middling", sign];
      const mark = element("b", `c ${className}`, shown);
      mark.setAttribute("aria-hidden", "true");
      cell.append(mark);
    }
    const said = [...text].map((sign) => words[sign] ?? `score ${sign === "X" ? 10 : sign}`).join(", ");
    cell.append(element("span", "hidden", said));
    if (text.length > 24) cell.append(` +${text.length - 24}`);
    if (marksByText.size < 500) marksByText.set(text, cell);
    return cell.cloneNode(true);
  }

  // Elements of a row. They are made once and filled again and again, because making them takes longer than anything else.
  function newRow() {
    const row = element("div", "grid-row");
    row.setAttribute("role", "row");
    const verdict = element("span");
    const link = element("a");
    link.tabIndex = -1;
    const cells = columns.map(([, className]) => {
      const cell = element("div", className);
      cell.setAttribute("role", "gridcell");
      return cell;
    });
    cells[0].append(verdict);
    cells[2].append(link);
    row.append(...cells);
    return { row, verdict, link, cells, texts: [] };
  }

  // Writes the text of a cell, if it has another.
  function write(slot, at, text, target = slot.cells[at]) {
    if (slot.texts[at] === text) return;
    slot.texts[at] = text;
    if (target === null) slot.cells[at].replaceChildren(criteriaMarks(text));
    else target.textContent = text;
    if (target !== slot.cells[at]) return;
    if (text.length > 12) target.title = text;
    else target.removeAttribute("title");
  }

  function fillRow(slot, index, top) {
    const { row, verdict, link } = slot;
    row.className = index === selected ? "grid-row selected" : "grid-row";
    if (index === selected) row.setAttribute("aria-selected", "true");
    else row.removeAttribute("aria-selected");
    if (slot.index !== index) {
      slot.index = index;
      row.setAttribute("aria-rowindex", index + 2);
      row.id = `row-${index}`;
      row.dataset.index = index;
    }
    if (slot.top !== top) {
      slot.top = top;
      row.style.top = `${top}px`;
    }

    const data = rowAt(index);
    const [number, name, score, id, suite, target, trial, marks, missed, tags, cost, time, hasError] = data ?? [];
    const [className, sign] = data ? (VERDICTS[name] ?? ["open", "?"]) : ["", "…"];
    verdict.className = data ? `mark ${className}` : "dim";
    if (hasError === 1) verdict.title = "with an error";
    else verdict.removeAttribute("title");
    if (data) link.href = address(number);
    else link.removeAttribute("href");

    const texts = [
      data ? `${sign} ${name}${hasError === 1 ? " !" : ""}` : sign,
      score,
      trial > 1 ? `${id} (trial ${trial})` : id,
      ...(hasSuite ? [suite] : []),
      ...(hasTarget ? [target] : []),
      marks,
      missed,
      tags,
      cost,
      time,
    ];
    const targets = { 0: verdict, 2: link, [texts.length - 5]: null };
    texts.forEach((text, at) => write(slot, at, text ?? "", targets[at]));
  }

  const slots = [];
  function draw() {
    const { scrollTop, clientHeight } = view;
    const shown = Math.floor((scrollTop * scale()) / rowHeight);
    const first = Math.max(0, shown - 4);
    const last = Math.max(first, Math.min(count, shown + Math.ceil(clientHeight / rowHeight) + 5));
    const pageOf = (index) => Math.floor(index / PAGE);
    for (let page = pageOf(first); page <= pageOf(Math.max(first, last - 1)); page++) load(page);

    const begin = scrollTop - ((scrollTop * scale()) % rowHeight);
    for (let index = first; index < last; index++) {
      const slot = (slots[index - first] ??= newRow());
      fillRow(slot, index, begin + (index - shown) * rowHeight);
      if (!slot.row.isConnected) body.append(slot.row);
    }
    for (const { row } of slots.slice(last - first)) row.remove();
    const isShown = selected >= first && selected < last;
    if (isShown) root.setAttribute("aria-activedescendant", `row-${selected}`);
    else root.removeAttribute("aria-activedescendant");
  }

  const address = (number) => `${caseUrl}/${number}${query ? `?${query}` : ""}`;

  function moveTo(index) {
    if (count === 0) return;
    selected = Math.max(0, Math.min(index, count - 1));
    const top = (selected * rowHeight) / scale();
    const height = Math.floor(view.clientHeight / rowHeight) * rowHeight;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + rowHeight > view.scrollTop + height) view.scrollTop = top + rowHeight - height;
    draw();
    remember();
    if (document.activeElement !== root) root.focus({ preventScroll: true });
  }

  function open(index) {
    const data = rowAt(index);
    if (data) location.assign(address(data[0]));
  }

  // The place in the list is part of the page's history, so that coming back leads to the same row.
  function remember() {
    const url = query ? `?${query}` : location.pathname;
    history.replaceState({ selected, top: view.scrollTop }, "", url);
  }

  // The rows of before are shown until the others are there. None of them can be selected any more.
  async function apply() {
    const next = readForm();
    if (next === query) return;
    query = next;
    version += 1;
    const asked = version;
    pages.clear();
    selected = -1;
    document.getElementById("plain-link").href = `${caseUrl}?${query}${query ? "&" : ""}page=1`;
    const slow = setTimeout(() => asked === version && root.setAttribute("aria-busy", "true"), SLOW);
    const data = await request(0);
    clearTimeout(slow);
    if (asked === version) root.removeAttribute("aria-busy");
    if (!data) return;
    if (view.scrollTop !== 0) view.scrollTop = 0;
    take(0, data);
    remember();
  }

  // Narrow windows show filters when asked to, or when there are some, so that the cases are on the first screen.
  const toggle = form.querySelector(".toggle");
  function collapse(isCollapsed) {
    form.classList.toggle("collapsed", isCollapsed);
    toggle.setAttribute("aria-expanded", String(!isCollapsed));
  }
  toggle.hidden = false;
  toggle.addEventListener("click", () => collapse(!form.classList.contains("collapsed")));
  collapse(query === "");

  let typing;
  form.addEventListener("input", (event) => {
    clearTimeout(typing);
    if (event.target.matches("[type=search]")) typing = setTimeout(apply, 250);
    else apply();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
    root.focus();
  });
  view.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  addEventListener("resize", () => {
    // The first row on screen stays.
    const first = firstRow();
    const before = rowHeight;
    rowHeight = readHeight();
    if (rowHeight !== before) {
      resize(count);
      view.scrollTop = (first * rowHeight) / scale();
    }
    requestAnimationFrame(draw);
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest(".grid-row");
    if (!row || event.target.closest("a")) return;
    selected = Number(row.dataset.index);
    remember();
    open(selected);
  });
  root.addEventListener("keydown", (event) => {
    const jump = Math.max(1, Math.floor(view.clientHeight / rowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: jump, PageUp: -jump };
    if (Object.hasOwn(moves, event.key)) moveTo(selected + moves[event.key]);
    else if (event.key === "Home") moveTo(0);
    else if (event.key === "End") moveTo(Infinity);
    else if (event.key === "Enter") open(Math.max(selected, 0));
    else return;
    event.preventDefault();
  });

  // New cases of a run that goes on appear by themselves.
  if (root.hasAttribute("data-is-live")) {
    setInterval(() => {
      const page = Math.floor(firstRow() / PAGE);
      for (const known of [...pages.keys()]) if (known !== page) pages.delete(known);
      refresh(page);
    }, 2000);
  }
  async function refresh(page) {
    const data = await request(page);
    if (data) take(page, data);
  }

  // The first rows come with the page. Where the server has not read all cases yet, a request waits until it has.
  const first = document.getElementById("first-rows");
  if (first) pages.set(0, JSON.parse(first.textContent).rows);
  if (root.hasAttribute("data-is-partial")) finish();
  async function finish() {
    await refresh(0);
    for (const known of [...pages.keys()]) if (known !== 0) pages.delete(known);
    draw();
    // What cases can be filtered by is known now as well.
    const reply = await fetch(`${location.pathname}?${query}`).catch(() => null);
    if (!reply?.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    let before = null;
    for (const label of page.querySelectorAll("#filters label:has(select)")) {
      const next = label.querySelector("select");
      const known = form.querySelector(`select[name="${next.name}"]`);
      if (!known) (before ?? form.querySelector("fieldset")).after(label);
      else if (known.options.length !== next.options.length) {
        const chosen = known.value;
        known.replaceChildren(...next.childNodes);
        known.value = chosen;
      }
      before = known ? known.closest("label") : label;
    }
  }

  resize(count);
  if (history.state?.selected !== undefined) {
    selected = history.state.selected;
    view.scrollTop = history.state.top;
  }
  draw();
  if (count === 0) load(0);

  return { move: (by) => moveTo(selected + by), moveTo, focus: () => root.focus() };
}
