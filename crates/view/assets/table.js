import { hideReason, peek, pressNote, showReason, showReasonsIn } from "./reason.js";

// The table of cases: only the rows on screen are drawn, and only those around them are asked for.

// As many rows come with the page itself.
const PAGE = 100;
// Time after which the rows of before are marked as old ones, in milliseconds.
const SLOW = 200;
// Browsers draw no element that is higher than some millions of pixels.
const MAX_HEIGHT = 12_000_000;
// Where the choice of columns is kept.
const CHOICE = "assize.columns";

// Key, name, width, what to sort by, and whether it is shown unless the user has chosen.
const COLUMNS = [
  ["verdict", "Verdict", "104px", "verdict", true],
  ["score", "Score", "98px", "score", true],
  ["case", "Case", "minmax(90px, 0.8fr)", "id", true],
  ["suite", "Suite", "minmax(60px, 0.5fr)", null, "hasSuite"],
  ["prompt", "Prompt", "minmax(60px, 0.5fr)", null, "hasPrompt"],
  ["target", "Target", "minmax(60px, 0.5fr)", null, "hasTarget"],
  ["question", "Question", "minmax(80px, 1.4fr)", null, true],
  ["answer", "Answer", "minmax(100px, 2fr)", null, true],
  ["criteria", "Criteria", "minmax(150px, 2fr)", null, true],
  ["tags", "Tags", "minmax(60px, 0.5fr)", null, false],
  ["cost", "Cost", "72px", "cost", false],
  ["latency", "Latency", "84px", "latency", false],
];
// A table without these says nothing.
const FIXED = new Set(["verdict", "case"]);

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
  const fields = document.getElementById("filter-fields");
  const possible = COLUMNS.filter(([, , , , isShown]) => typeof isShown === "boolean" || isShown in root.dataset);
  let chosen = readChoice();

  let count = Number(root.dataset.total);
  let selected = -1;
  let criterion = -1;
  // What the list is filtered and sorted by: the query of the page's address.
  let params = new URLSearchParams(location.search);
  params.delete("page");
  let query = params.toString();
  let version = 0;
  const pages = new Map();

  root.setAttribute("role", "grid");
  root.setAttribute("aria-label", "Cases");
  // The grid has the focus and names the row that is selected, which the group of its rows may not.
  root.tabIndex = 0;
  const head = element("div", "grid-row grid-head");
  head.setAttribute("role", "row");
  head.setAttribute("aria-rowindex", 1);
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
  let columns = [];
  let slots = [];

  // The user's choice of columns; a browser may refuse to keep it.
  function readChoice() {
    try {
      const kept = JSON.parse(localStorage.getItem(CHOICE));
      if (Array.isArray(kept)) return new Set([...kept, ...FIXED]);
    } catch {}
    return new Set(possible.filter(([, , , , isShown]) => isShown).map(([key]) => key));
  }

  function layOut() {
    columns = possible.filter(([key]) => chosen.has(key));
    root.setAttribute("aria-colcount", columns.length);
    root.style.setProperty("--columns", columns.map(([, , width]) => width).join(" "));
    head.replaceChildren(...columns.map(([key, name, , sort]) => {
      const cell = element("div", `of-${key}`);
      cell.setAttribute("role", "columnheader");
      if (!sort) cell.textContent = name;
      else {
        const button = element("button", "sort", name);
        button.type = "button";
        button.dataset.sort = sort;
        cell.append(button);
      }
      return cell;
    }));
    body.replaceChildren();
    slots = [];
    showOrder();
  }

  function showOrder() {
    for (const button of head.querySelectorAll(".sort")) {
      const isCurrent = params.get("sort") === button.dataset.sort;
      const order = params.get("desc") === "1" ? "descending" : "ascending";
      button.dataset.order = isCurrent ? order : "";
      if (isCurrent) button.parentElement.setAttribute("aria-sort", order);
      else button.parentElement.removeAttribute("aria-sort");
    }
  }

  const menu = document.getElementById("columns");
  for (const [key, name] of possible.filter(([key]) => !FIXED.has(key))) {
    const label = element("label", "check", ` ${name}`);
    const box = element("input");
    box.type = "checkbox";
    box.checked = chosen.has(key);
    box.addEventListener("change", (event) => {
      event.stopPropagation();
      if (box.checked) chosen.add(key);
      else chosen.delete(key);
      try {
        localStorage.setItem(CHOICE, JSON.stringify([...chosen]));
      } catch {}
      layOut();
      draw();
    });
    label.prepend(box);
    menu.querySelector("fieldset").append(label);
  }

  // Rows have more lines in narrow windows.
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

  function criterionCell({ at, name, mark, gate, failed, penalty, disputed, people }) {
    const cell = element("span", `criterion-cell ${mark.class}`);
    if (at !== null) cell.dataset.at = at;
    else cell.dataset.name = name;
    if (failed) cell.classList.add("failed");
    const shown = element("b", "", mark.sign);
    shown.setAttribute("aria-hidden", "true");
    cell.append(shown, ` ${penalty ? "penalty " : ""}${name}`);
    if (gate) cell.append(element("i", "gate-sign", "◆"));
    if (disputed) cell.append(element("i", "", "≠"));
    if (people) cell.append(element("i", "", "✎"));
    const words = [mark.word, gate ? "gate" : "", disputed ? "disputed" : "", people];
    cell.append(element("span", "hidden", ` ${words.filter(Boolean).join(", ")}`));
    return cell;
  }

  // Elements of a row. They are made once and filled again and again, because making them takes longer than anything else.
  function newRow() {
    const row = element("div", "grid-row");
    row.setAttribute("role", "row");
    const cells = {};
    for (const [key] of columns) {
      cells[key] = element("div", `of-${key}`);
      cells[key].setAttribute("role", "gridcell");
      row.append(cells[key]);
    }
    const verdict = element("span");
    cells.verdict.append(verdict);
    const link = element("a");
    link.tabIndex = -1;
    const more = element("button", "more", "more");
    more.type = "button";
    more.tabIndex = -1;
    // Narrow windows have no columns for prompt and target.
    const part = element("span", "part dim");
    const nth = element("span", "nth dim");
    cells.case.append(link, part, nth, more);
    return { row, verdict, link, part, nth, more, cells, data: null };
  }

  function fillRow(slot, index, top) {
    const { row, verdict, link, cells } = slot;
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
    if (slot.data === (data ?? undefined)) return;
    slot.data = data ?? undefined;
    const { mark, id, trial, error } = data ?? {};
    verdict.className = data ? `mark ${mark.class}` : "dim";
    verdict.textContent = data ? `${mark.sign} ${mark.word}${error ? " !" : ""}` : "…";
    if (error) verdict.title = "with an error";
    else verdict.removeAttribute("title");
    link.textContent = id ?? "";
    slot.nth.textContent = trial > 1 ? `trial ${trial}` : "";
    link.title = link.textContent;
    if (data) link.href = address(data.n);
    else link.removeAttribute("href");
    slot.part.textContent = [root.hasAttribute("data-has-prompt") && data?.prompt, root.hasAttribute("data-has-target") && data?.target].filter(Boolean).join(" ");
    slot.more.hidden = !data;
    slot.more.setAttribute("aria-label", `More of ${id ?? ""}`);
    for (const key of ["score", "suite", "prompt", "target", "tags", "cost", "latency"]) {
      if (cells[key]) cells[key].textContent = data?.[key] ?? "";
    }
    for (const key of ["question", "answer"]) {
      if (!cells[key]) continue;
      cells[key].dir = "auto";
      cells[key].replaceChildren(element("span", "lines", data?.[key] ?? ""));
    }
    if (cells.criteria) {
      cells.criteria.replaceChildren(...(data?.criteria ?? []).map(criterionCell));
      if (data?.more) cells.criteria.append(element("span", "dim", `+${data.more}`));
      if (index === selected) cells.criteria.children[criterion]?.classList.add("current");
    }
  }

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
    fold();
    criterion = -1;
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
    if (data) location.assign(address(data.n));
  }

  // The place in the list is part of the page's history and of this tab, so that both ways back lead to the same row.
  const place = () => `assize.place ${rowsUrl}?${query}`;
  function remember() {
    const url = query ? `?${query}` : location.pathname;
    const state = { selected, top: view.scrollTop };
    history.replaceState(state, "", url);
    sessionStorage.setItem(place(), JSON.stringify(state));
  }

  // The whole texts of a row, below it.
  let unfolded = null;
  function fold() {
    hideReason();
    unfolded?.panel.remove();
    unfolded = null;
  }
  async function unfold(index) {
    const isOpen = unfolded?.index === index;
    fold();
    const data = rowAt(index);
    if (isOpen || !data) return;
    const panel = element("div", "peek");
    panel.setAttribute("role", "row");
    unfolded = { index, panel };
    const shown = await peek(`${caseUrl}/${data.n}`);
    if (unfolded?.panel !== panel) return;
    const cell = element("div", "peek-cell");
    cell.setAttribute("role", "gridcell");
    cell.append(...shown.childNodes);
    panel.append(cell);
    const row = document.getElementById(`row-${index}`);
    if (!row) return fold();
    panel.style.top = `${parseFloat(row.style.top) + rowHeight}px`;
    body.append(panel);
    // As much of it as fits is shown, below its row.
    const { offsetTop, offsetHeight } = panel;
    const bottom = Math.min(offsetTop + offsetHeight - view.clientHeight, offsetTop - rowHeight);
    if (view.scrollTop < bottom) view.scrollTop = bottom;
  }

  // The address of the case in a row, and what is to be done when its decisions were marked.
  const sourceOf = (index) => ({
    url: rowAt(index) && `${caseUrl}/${rowAt(index).n}`,
    onChange: async () => {
      await refresh(Math.floor(index / PAGE));
      refreshFilter();
    },
  });
  showReasonsIn(body, (cell) => sourceOf(Number(cell.closest(".grid-row").dataset.index)));
  const criteria = () => [...(document.getElementById(`row-${selected}`)?.querySelectorAll(".criterion-cell") ?? [])];
  function moveInRow(by, takesFocus = false) {
    const cells = criteria();
    if (cells.length === 0) return;
    criterion = Math.max(0, Math.min(criterion + by, cells.length - 1));
    cells.forEach((cell, at) => cell.classList.toggle("current", at === criterion));
    showReason(cells[criterion], { ...sourceOf(selected), takesFocus });
  }

  // Fields and chips show what the list is filtered by.
  function showFilter() {
    for (const field of form.querySelectorAll("[name]")) field.value = params.get(field.name) ?? "";
    for (const chip of form.querySelectorAll(".chip")) {
      const isChosen = [...new URLSearchParams(chip.dataset.sets)].every(([key, value]) => params.has(key, value));
      if (isChosen) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    }
    showOrder();
  }

  // The rows of before are shown until the others are there. None of them can be selected any more.
  async function apply() {
    const next = params.toString();
    if (next === query) return;
    query = next;
    version += 1;
    const asked = version;
    pages.clear();
    selected = -1;
    fold();
    showFilter();
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

  function readField({ name, value }) {
    if (!name) return;
    if (value) params.set(name, value);
    else params.delete(name);
    apply();
  }

  // Narrow windows show filters when asked to, or when there are some, so that the cases are on the first screen.
  const box = document.getElementById("filter-box");
  const narrow = matchMedia("(max-width: 700px)");
  box.open = !narrow.matches || query !== "";
  narrow.addEventListener("change", () => (box.open = !narrow.matches || query !== ""));

  let typing;
  form.addEventListener("input", ({ target }) => {
    clearTimeout(typing);
    if (target.matches("[type=search]")) typing = setTimeout(() => readField(target), 250);
    else readField(target);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typing);
    readField(form.querySelector("[type=search]"));
    root.focus();
  });
  form.addEventListener("click", (event) => {
    const chip = event.target.closest(".chip");
    if (!chip || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const isChosen = chip.hasAttribute("aria-current");
    for (const [key, value] of new URLSearchParams(chip.dataset.sets)) {
      // Several verdicts can be chosen.
      if (key === "verdict") params.delete(key, value);
      else params.delete(key);
      if (!isChosen) params.append(key, value);
    }
    apply();
  });
  head.addEventListener("click", (event) => {
    const button = event.target.closest(".sort");
    if (!button) return;
    // Upwards, downwards, and back to the order of the files.
    const { sort, order } = button.dataset;
    params.delete("sort");
    params.delete("desc");
    if (order !== "descending") params.set("sort", sort);
    if (order === "ascending") params.set("desc", "1");
    apply();
  });
  view.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  addEventListener("resize", () => {
    // The first row on screen stays.
    const first = firstRow();
    const before = rowHeight;
    rowHeight = readHeight();
    if (rowHeight !== before) {
      fold();
      resize(count);
      view.scrollTop = (first * rowHeight) / scale();
    }
    requestAnimationFrame(draw);
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest(".grid-row");
    if (!row || event.target.closest("a")) return;
    // Whoever marks a text to copy it does not want to leave.
    if (String(getSelection())) return;
    selected = Number(row.dataset.index);
    draw();
    remember();
    const cell = event.target.closest(".criterion-cell");
    if (cell) criterion = criteria().indexOf(cell);
    else if (event.target.closest(".more")) unfold(selected);
    else open(selected);
  });
  root.addEventListener("keydown", (event) => {
    if (event.target !== root) {
      if (event.key === "Escape" && unfolded) {
        fold();
        root.focus();
      }
      return;
    }
    const jump = Math.max(1, Math.floor(view.clientHeight / rowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: jump, PageUp: -jump };
    if (Object.hasOwn(moves, event.key)) moveTo(selected + moves[event.key]);
    else if (event.key === "ArrowRight") moveInRow(1);
    else if (event.key === "ArrowLeft") moveInRow(-1);
    else if (event.key === " ") unfold(Math.max(selected, 0));
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === "m") moveInRow(0, true);
    else if (pressNote(event.key));
    else if (event.key === "Escape") fold();
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
    refreshFilter();
  }

  // What cases can be filtered by, with their numbers.
  async function refreshFilter() {
    const reply = await fetch(`${location.pathname}?${query}`).catch(() => null);
    if (!reply?.ok) return;
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const isOpen = fields.querySelector("details")?.open;
    fields.replaceChildren(...(page.getElementById("filter-fields")?.childNodes ?? []));
    fields.querySelector("details").open = isOpen;
    showFilter();
  }

  layOut();
  resize(count);
  const state = history.state?.selected === undefined ? JSON.parse(sessionStorage.getItem(place())) : history.state;
  if (state) {
    selected = Math.min(state.selected, count - 1);
    view.scrollTop = state.top;
  }
  draw();
  if (selected >= 0) root.focus({ preventScroll: true });
  if (count === 0) load(0);

  return { move: (by) => moveTo(selected + by), moveTo, focus: () => root.focus() };
}
