// Walks through the pages of `assize view` in Chromium: keys, filters, hostile texts, accessibility, policy violations.
// Argument: the address that the server printed.
import { strict as assert } from "node:assert";
import { BrowserSession } from "./session.mjs";

const session = await BrowserSession.launch();
const first = new URL(process.argv[2]);
const at = (pathname) => new URL(pathname, first.origin).href;
const open = (colorScheme, width) => session.open(first.href, colorScheme, width);
const check = (page, what, isAudited) => session.check(page, what, isAudited);

// How far what a page shows has moved since it was opened, other than by what a user did.
const layoutShift = () =>
  new Promise((done) => {
    let sum = 0;
    const add = ({ value, hadRecentInput }) => (sum += hadRecentInput ? 0 : value);
    new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 100);
  });

// Every page that is reached from the list of runs, in both themes and at two widths.
async function visitAll(colorScheme, width) {
  const page = await open(colorScheme, width);
  const name = (pathname) => `${pathname} ${colorScheme} ${width}`;
  const look = (pathname) => check(page, name(pathname));
  await page.goto(at("/"));
  await look("/");

  const runs = await page.$$eval("a[data-open]", (links) => links.map((link) => link.getAttribute("href")));
  assert.ok(runs.length >= 4, "the runs are listed");
  for (const [index, run] of runs.entries()) {
    // These two look the same in every run.
    const lists = index < 2 ? [`${run}/cases?page=1`, `${run}/criteria`, `${run}/calibration`] : [];
    for (const pathname of [run, `${run}/cases`, ...lists, `${run}/cases/1`]) {
      await page.goto(at(pathname));
      if (pathname.endsWith("/cases")) {
        await page.waitForSelector(".grid-body a");
        const moved = await page.evaluate(layoutShift);
        assert.ok(moved < 0.02, `nothing moves when rows are drawn, but ${name(pathname)} shifts by ${moved}`);
      }
      await look(pathname);
    }
    const scorecard = await page.goto(at(run)).then(() => page.$(".tabs a[href$=scorecard]"));
    if (scorecard) {
      await page.goto(at(`${run}/scorecard`));
      await look(`${run}/scorecard`);
      const parts = await page.$$eval("table.tree a[data-open]", (links) => links.map((link) => link.getAttribute("href")));
      for (const part of parts.filter((_, at) => at % 4 === 0 || at === parts.length - 1)) {
        await page.goto(at(part));
        await look(part);
      }
    }
  }

  // Boxes that scroll are reached by keys.
  await page.goto(at("/"));
  const long = await page.locator("tr", { hasText: "hostile" }).locator("a[data-open]").getAttribute("href");
  await page.goto(at(`${long}/cases/1`));
  if (width > 1000) {
    const scrolls = await page.$$eval(".said", (boxes) => boxes.filter((box) => box.scrollHeight > box.clientHeight + 1).length);
    assert.ok(scrolls >= 2, "long texts scroll");
  }
  await look(`${long} with long texts`);

  await page.goto(at("/audits"));
  await look("/audits");
  const audits = await page.$$eval("a[data-open]", (links) => links.map((link) => link.getAttribute("href")));
  assert.equal(audits.length, 2, "the audits are listed");
  for (const audit of audits) {
    await page.goto(at(audit));
    assert.ok(await page.locator("svg.chart").count(), "an audit is drawn");
    await look(audit);
  }

  await page.goto(at("/trend"));
  await look("/trend");
  await page.goto(at("/"));
  const same = page.locator("tr", { hasText: "support-answers" });
  await same.nth(0).locator("input").check();
  await same.nth(1).locator("input").check();
  await page.click("text=Side by side");
  await page.waitForSelector("table.matrix");
  await look("side by side");
  await page.click(".chip >> nth=0");
  assert.ok(await page.locator(".chip[aria-current]").count(), "only tests that differ are shown");
  await page.goto(at("/"));
  await same.nth(0).locator("input").check();
  await same.nth(1).locator("input").check();
  await page.click("text=Compare the two checked runs");
  await page.waitForSelector("h1");
  await page.click("details.options summary");
  await look("comparison");
  const changed = page.locator("table a[data-open]").first();
  assert.ok(await changed.count(), "cases changed");
  await changed.click();
  assert.ok(await page.locator("ins, del").count(), "differences are marked");
  assert.ok((await page.textContent(".steps")).includes("1 of"), "it has its place in the list");
  await look("compared case");
  await page.context().close();
}

// A judge beside people: the run with labels beside its files.
async function visitCalibration(colorScheme, width) {
  const page = await open(colorScheme, width);
  await page.goto(at("/"));
  const run = await page.locator("tr", { hasText: "lessons" }).locator("a[data-open]").getAttribute("href");
  await page.goto(at(`${run}/calibration`));
  assert.ok(await page.locator("svg.confusion").count(), "a calibration is drawn");
  const explained = page.locator(".forest td.name small").first();
  assert.ok(await explained.isVisible(), `metrics are explained at ${width} px`);
  await check(page, `calibration ${colorScheme} ${width}`);
  await page.context().close();
}

async function useKeys() {
  const page = await open("light", 1200);
  await page.goto(at("/"));
  await page.keyboard.press("j");
  const chosen = await page.$eval("tr.selected a[data-open]", (link) => link.href);
  await Promise.all([page.waitForURL(chosen), page.keyboard.press("Enter")]);

  await page.goto(at("/"));
  await page.keyboard.press("/");
  await page.keyboard.type("generated");
  assert.equal(await page.locator("tbody tr:visible").count(), 1, "the list is filtered as one types");
  const large = await page.$eval("tbody tr:not([hidden]) a[data-open]", (link) => link.getAttribute("href"));

  await page.goto(at(`${large}/cases`));
  await page.waitForSelector(".grid-body a");
  // The rest of the rows comes after the first ones.
  await page.waitForFunction((all) => document.getElementById("cases-grid").getAttribute("aria-rowcount") === all, "1001");
  await page.keyboard.press("G");
  await page.waitForSelector(".grid-row.selected a");
  await page.waitForFunction(() => document.querySelector(".grid-row.selected").getAttribute("aria-rowindex") === "1001");
  const last = await page.$eval(".grid-row.selected", (row) => row.getAttribute("aria-rowindex"));
  const rows = await page.$eval("#cases-grid", (grid) => grid.getAttribute("aria-rowcount"));
  assert.equal(last, rows, "the last row is reached");
  const box = await page.locator(".grid-row.selected").boundingBox();
  const view = await page.locator(".grid-view").boundingBox();
  assert.ok(box.y >= view.y && box.y + box.height <= view.y + view.height + 1, "and it is on screen");

  await check(page, "a selected row");

  await page.keyboard.press("k");
  const id = await page.$eval(".grid-row.selected a", (link) => link.textContent);
  await Promise.all([page.waitForURL("**/cases/*"), page.keyboard.press("Enter")]);
  assert.ok((await page.textContent("h1")).includes(id), "the selected case opens");
  await Promise.all([page.waitForURL((url) => !url.href.endsWith(id)), page.keyboard.press("j")]);
  await page.waitForSelector("h1");
  await page.keyboard.press("c");
  assert.equal(await page.evaluate(() => document.activeElement.className), "criterion");
  await page.goBack();
  await page.goBack();
  await page.waitForSelector(".grid-row.selected a");
  assert.equal(await page.$eval(".grid-row.selected a", (link) => link.textContent), id, "coming back keeps the row");
  await Promise.all([page.waitForURL("**/cases/*"), page.keyboard.press("Enter")]);
  await Promise.all([page.waitForURL("**/cases"), page.keyboard.press("u")]);
  await page.waitForSelector(".grid-row.selected a");
  assert.equal(await page.$eval(".grid-row.selected a", (link) => link.textContent), id, "going up keeps the row as well");

  await page.keyboard.press("/");
  await page.keyboard.type("nothing says this");
  await page.waitForFunction(() => document.getElementById("found").textContent.startsWith("0 of"));
  assert.ok(page.url().includes("q=nothing"), "the address holds the filter");
  await check(page, "an empty list");
  await page.fill("[data-search]", "case-77");
  await page.waitForFunction(() => document.querySelectorAll(".grid-body a").length === 11);
  // Chips filter and are cleared by a second click; several verdicts add up.
  const chip = (sets) => page.locator(`.chip[data-sets="${sets}"]`);
  await chip("verdict=pass").click();
  await chip("verdict=fail").click();
  await page.waitForFunction(() => location.search.includes("verdict=pass&verdict=fail"));
  assert.equal(await page.locator(".chip[aria-current]").count(), 2, "chips show what is chosen");
  await chip("verdict=pass").click();
  await chip("verdict=fail").click();
  await page.waitForFunction(() => !location.search.includes("verdict"));
  // Heads of columns sort upwards, downwards and not at all.
  for (const wanted of ["sort=score", "sort=score&desc=1", ""]) {
    await page.click("[data-sort=score]");
    await page.waitForFunction((wanted) => location.search === `?q=case-77${wanted && `&${wanted}`}`, wanted);
  }
  // Questions and answers stand in the row; the rest of them, and reasons, are shown in place.
  assert.ok((await page.textContent(".grid-body .of-question")).includes("question"), "questions are in the rows");
  await page.keyboard.press("j");
  await page.keyboard.press(" ");
  await page.waitForSelector(".peek .said");
  await check(page, "an unfolded row");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".peek").count(), 0);
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector("#criterion-note:not([hidden])");
  await check(page, "the reason of a criterion");
  await page.locator(".grid-body .criterion-cell").nth(3).hover();
  await page.waitForSelector("#criterion-note:not([hidden])");
  // The choice of columns is kept.
  await page.click("#columns summary");
  await page.locator("#columns label", { hasText: "Latency" }).locator("input").check();
  await check(page, "the choice of columns");
  await page.reload();
  await page.waitForSelector(".grid-body .of-latency", { state: "attached" });
  await page.click("text=More filters");
  // An outcome alone is one of any criterion.
  await page.selectOption("[name=outcome]", "against");
  await page.waitForFunction(() => location.search.includes("outcome=against"));
  const all = await page.locator(".grid-body a").count();
  await page.selectOption("[name=outcome]", "ungraded");
  await page.waitForFunction(() => document.getElementById("found").textContent.startsWith("0 of"));
  assert.ok(all > 0, "some criteria are unmet");
  await page.selectOption("[name=outcome]", "");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").isVisible(), "the keys are listed");
  await check(page, "the list of keys");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#help").isVisible()));
  await page.context().close();
}

// A test a row, with two columns: the search and the chips, which are kept by each other.
async function useMatrix() {
  const page = await open("light", 1200);
  await page.goto(at("/"));
  const rows = page.locator("tr", { hasText: "support-answers" });
  const names = await rows.locator("input").evaluateAll((boxes) => boxes.map((box) => `run=${box.value}`));
  assert.equal(names.length, 2);
  await page.goto(at(`/matrix?${names.join("&")}`));
  const says = (text) => page.waitForFunction((text) => document.querySelector("h2 [role=status]")?.textContent.startsWith(text), text);
  const loads = (act) => Promise.all([page.waitForEvent("load"), act]);
  const all = await page.textContent("h2 [role=status]");
  const chips = await page.locator(".chip").evaluateAll((chips) => chips.map((chip) => [chip.dataset.sets, chip.querySelector("b").textContent]));
  assert.ok(chips.length >= 4, "verdicts and differences are chips");
  for (const [sets, count] of chips) {
    const chip = page.locator(`.chip[data-sets="${sets}"]`);
    await loads(chip.click());
    await page.waitForSelector(".chip[aria-current]");
    await says(`${count} of `);
    assert.equal(await page.locator(".matrix tbody tr:not(.about)").count(), Number(count), `${sets} shows ${count}`);
    // A second click clears it.
    await loads(chip.click());
    assert.equal(await page.locator(".chip[aria-current]").count(), 0);
    await says(all);
  }
  const id = await page.locator(".matrix tbody th .strong").first().textContent();
  await page.keyboard.press("/");
  await page.keyboard.type(id);
  await loads(page.keyboard.press("Enter"));
  assert.ok((await page.locator(".matrix tbody th .strong").allTextContents()).includes(id), "a test is found by its id");
  await loads(page.locator(".chip").first().click());
  assert.ok(page.url().includes("q="), "a chip keeps the search");
  await page.fill("[data-search]", "nothing says this");
  await loads(page.keyboard.press("Enter"));
  await says("0 of");
  await check(page, "an empty matrix");

  // Prompts and targets of one run: the gate of a check is one cell with the check.
  await page.goto(at("/"));
  const prompts = await page.locator("tr", { hasText: "prompts" }).locator("a[data-open]").getAttribute("href");
  await page.goto(at(prompts));
  await page.click(".tabs >> text=Side by side");
  await page.waitForSelector("table.matrix");
  assert.equal(await page.locator(".matrix thead th").count(), 1 + 2 * 2, "a column for each prompt and target");
  assert.equal(await page.locator(".matrix tbody tr:not(.about)").count(), 2, "a row for each test");
  await check(page, "prompts side by side");

  // Trials of a test share a cell, in which a click and a key lead from one answer to the next, and nothing moves.
  await page.goto(at("/"));
  const trials = await page.locator("tr", { hasText: "trials-of-recordings" }).locator("a[data-open]").getAttribute("href");
  await page.goto(at(trials));
  await page.click(".tabs >> text=Side by side");
  const cell = page.locator(".trials").first();
  const shown = () => cell.locator(".cell-answer:visible").allTextContents();
  const box = await cell.boundingBox();
  assert.match((await shown()).join(), /^Ask the shop/, "the answer that fails is shown first");
  await cell.locator("label:visible").click();
  assert.match((await shown()).join(), /^You get a refund/);
  await check(page, "trials side by side");
  await page.keyboard.press("ArrowRight");
  assert.match((await shown()).join(), /^Ask the shop/);
  assert.deepEqual(await cell.boundingBox(), box);

  await page.goto(at(`${prompts}/cases`));
  await page.waitForSelector(".criterion-cell.failed .gate-sign");
  for (const row of await page.locator(".grid-body .of-criteria").all()) {
    const names = await row.locator(".criterion-cell").evaluateAll((cells) => cells.map((cell) => cell.childNodes[1].data.trim()));
    assert.equal(new Set(names).size, names.length, `a criterion stands once in ${names.join(", ")}`);
  }
  await page.context().close();
}

// Decisions of a judge are marked right or wrong with one click or key, from the table, side by side and from a case, and
// without a name asked for twice.
async function markDecisions(colorScheme, width) {
  const page = await open(colorScheme, width);
  const what = (text) => `${text} ${colorScheme} ${width}`;
  const note = page.locator("#criterion-note");
  const says = (text) => page.waitForFunction((text) => document.querySelector(".mark-message").textContent.includes(text), text);
  await page.goto(at("/"));
  const rows = page.locator("tr", { hasText: "support-answers" });
  const runs = await rows.locator("a[data-open]").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  await page.goto(at(`${runs[0]}/cases`));
  await page.waitForSelector(".grid-body a");
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowRight");
  await note.locator("[data-wrong]").waitFor();
  await page.keyboard.press("-");
  await page.waitForFunction(() => document.activeElement.name === "who");
  await check(page, what("a name that is asked for"));
  await page.keyboard.press("Control+a");
  await page.keyboard.type("walker");
  await page.keyboard.press("Enter");
  await note.locator(".undo").waitFor();
  const marked = () => page.locator(".grid-row.selected .of-criteria").textContent();
  assert.ok((await marked()).includes("walker"), "the label is seen in the row");
  // Its chip appears without a reload, also where filters are folded.
  await page.waitForSelector('.chip[data-sets="disputed=1"]', { state: "attached" });
  await page.keyboard.press("e");
  await page.keyboard.type("a note <b>");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".grid-row.selected .of-criteria").textContent.includes("a note <b>"));
  await check(page, what("a mark with a note"));
  // What was written last is taken back first.
  await page.keyboard.press("z");
  await page.waitForFunction(() => !document.querySelector(".grid-row.selected .of-criteria").textContent.includes("note"));
  assert.ok((await marked()).includes("walker"), "the mark stays without its note");
  await page.keyboard.press("z");
  await page.waitForFunction(() => !document.querySelector(".grid-row.selected .of-criteria").textContent.includes("✎"));
  await page.keyboard.press("z");
  await says("Nothing is left");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement.id === "cases-grid");

  // By mouse: the pointer rests on a criterion, and a click marks it. The next one needs no other click.
  for (const at of [0, 1]) {
    const row = page.locator(".grid-body .grid-row").nth(at);
    const cell = row.locator(".criterion-cell:not(.middling)").first();
    await cell.hover();
    await note.locator("[data-right]").waitFor();
    await page.waitForFunction((top) => {
      const box = document.getElementById("criterion-note").getBoundingClientRect();
      return Math.abs(box.top - top) < 600 && box.height > 0;
    }, (await cell.boundingBox()).y);
    await note.locator("[data-right]").click();
    await row.locator(".of-criteria", { hasText: "✎" }).waitFor();
    assert.ok(!(await note.evaluate((note) => note.contains(document.activeElement))), "a click leaves the focus where it was");
    await page.mouse.move(2, 2);
    await note.waitFor({ state: "hidden" });
  }
  for (const at of [1, 0]) {
    await page.keyboard.press("z");
    await page.locator(".grid-body .grid-row").nth(at).locator(".of-criteria:not(:has-text('✎'))").waitFor();
  }

  const names = runs.slice(0, 2).map((run) => `run=${run.split("/").pop()}`).join("&");
  await page.goto(at(`/matrix?${names}`));
  await page.locator(".matrix [data-mark]").first().focus();
  await page.keyboard.press("Enter");
  await note.locator("[data-wrong]").waitFor();
  assert.equal(await page.locator("[data-unnamed]").count(), 0, "the name is remembered");
  await check(page, what("marks side by side"));
  const first = await note.textContent();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((first) => document.getElementById("criterion-note").textContent !== first, first);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement.hasAttribute("data-mark"));
  await page.locator(".matrix .criterion-cell").first().click();
  await page.waitForFunction(() => document.activeElement.id === "criterion-note");
  await page.keyboard.press("-");
  await page.locator(".matrix .cells", { hasText: "✎" }).first().waitFor();
  await page.keyboard.press("z");
  await says("Taken back");

  await page.goto(at(`${runs[0]}/cases/1`));
  await page.keyboard.press("c");
  await page.keyboard.press("m");
  await note.locator("[data-right]").waitFor();
  await check(page, what("marks of a case"));
  await page.keyboard.press("+");
  await page.locator(".criterion .people", { hasText: "walker" }).first().waitFor();
  await page.keyboard.press("z");
  await says("Taken back");
  await page.context().close();
}

// Every kind of page that links lead to, with long names and texts, labels and panels, in windows as narrow as phones: no page
// is wider than its window, and what is wider than the page scrolls in a box that keys reach and that has a name.
async function fitNarrow(width) {
  const page = await open("light", width);
  // Of pages that differ only in the case, one of each run is enough.
  const kind = (link) => link.split("?")[0].replace(/\/cases\/[^/]+$/, "/cases/one");
  const queue = ["/"];
  const known = new Set(queue);
  while (queue.length > 0) {
    const pathname = queue.shift();
    await page.goto(at(pathname));
    if (await page.$("#cases-grid")) {
      await page.waitForSelector(".grid-body a");
      assert.ok(await page.locator(".grid-body .of-answer").first().isVisible(), "answers are shown");
      assert.ok(await page.locator(".chips").first().isHidden(), "filters do not push the cases off the screen");
      await page.click("#filter-box > summary");
      assert.ok(await page.locator(".chips").first().isVisible());
    }
    await page.$$eval("details", (all) => all.forEach((details) => (details.open = true)));
    await check(page, `${pathname} ${width}`, false);
    const unreachable = await page.evaluate(() => {
      const isReached = (box) => box.closest("[tabindex='0']") && box.closest("[aria-label], [aria-labelledby], pre");
      const scrolls = (box) => box.scrollWidth > box.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
      const boxes = [...document.querySelectorAll("main *")].filter((box) => scrolls(box) && !isReached(box));
      // Rows that became blocks have nothing beyond their edge.
      const cut = [...document.querySelectorAll(".scroll:has(> .stack)")].filter((box) => box.scrollWidth > box.clientWidth + 1);
      return [...boxes, ...cut].map((box) => `${box.tagName} ${box.className} ${box.getAttribute("aria-label") ?? ""}`);
    });
    for (const box of unreachable) session.problems.push(`${pathname} ${width}: ${box} has something beyond its edge`);

    if (pathname.endsWith("/S-DOC2")) {
      const people = (await page.locator("td[data-label=People]").allInnerTexts()).join("\n");
      assert.match(people, /ann: pass – not sure[^]*ben: fail – not sure/);
    }

    const links = await page.$$eval("main a[href^='/'], header a[href^='/']", (all) => all.map((link) => link.getAttribute("href")));
    for (const link of links) {
      if (known.has(kind(link))) continue;
      known.add(kind(link));
      queue.push(link);
    }
  }
  for (const wanted of ["/trend", "/audits", "/compare", "/compare/case"]) assert.ok(known.has(wanted), `${wanted} was reached`);
  for (const wanted of [/\/criteria$/, /\/calibration$/, /\/review$/, /\/scorecard\/S-DOC2$/, /\/cases\/one$/]) {
    assert.ok([...known].some((one) => wanted.test(one)), `${wanted} was reached`);
  }
  await page.context().close();
}

// Colours differ by theme and layout by width, so that two of the four are enough.
await Promise.all([visitAll("light", 1200), visitAll("dark", 400)]);
await Promise.all([fitNarrow(400), fitNarrow(360)]);
await visitCalibration("light", 400);
await visitCalibration("dark", 1200);
await useKeys();
await useMatrix();
await markDecisions("light", 1440);
await markDecisions("dark", 390);
await session.end();
