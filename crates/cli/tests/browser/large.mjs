// Walks through the pages of a run of very many cases in Chromium: keys, filters, search, accessibility, policy. Times are
// printed, and only what never comes fails.
// Arguments: the address of the run, and its number of cases.
import { strict as assert } from "node:assert";
import { BrowserSession } from "./session.mjs";

const session = await BrowserSession.launch();
const [first, count] = process.argv.slice(2);
const cases = Number(count);
const page = await session.open(first);
// Programs that are not optimised take their time.
page.setDefaultTimeout(600_000);
const run = new URL(page.url()).pathname;
const at = (pathname) => new URL(pathname, page.url()).href;

async function timed(what, act) {
  const begun = performance.now();
  await act();
  console.log(`${what}: ${(performance.now() - begun).toFixed(0)} ms`);
}

// Changes the filters and says how long it takes until the rows are painted, measured in the page: a tool that drives
// a browser takes tens of milliseconds itself.
async function changed(what, selector, value) {
  const change = ([selector, value]) =>
    new Promise((done) => {
      const begun = performance.now();
      const isPainted = (_, observer) => {
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
      };
      new MutationObserver(isPainted).observe(document.getElementById("found"), { childList: true });
      const field = document.querySelector(selector);
      if (value === undefined) return field.click();
      field.value = value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
  console.log(`${what}: ${(await page.evaluate(change, [selector, value])).toFixed(0)} ms in the page`);
}

const found = (text) => page.waitForFunction((wanted) => document.getElementById("found").textContent.startsWith(wanted), text);
const shown = (number) => number.toLocaleString("en");

await timed("painted rows", async () => {
  await page.goto(at(`${run}/cases`));
  await page.waitForSelector(".grid-body a");
});
await timed("all cases are read", () => found(`${shown(cases)} of ${shown(cases)}`));
await session.check(page, "a table of very many cases");

await timed("last row", async () => {
  await page.keyboard.press("G");
  await page.waitForFunction((last) => document.querySelector(`.grid-row.selected[aria-rowindex="${last}"] a`), cases + 1);
});
await session.check(page, "the end of the table");
const last = await page.textContent(".grid-row.selected a");
await timed("a case", async () => {
  await page.keyboard.press("Enter");
  await page.waitForSelector("article.criterion");
});
assert.ok((await page.textContent("h1")).includes(last), "the last case opens");
await session.check(page, "a case of very many");
await timed("the case before", () => Promise.all([page.waitForURL(/cases\/\d+$/), page.keyboard.press("k")]));
await page.waitForSelector("article.criterion");
assert.ok(!(await page.textContent("h1")).includes(last), "k leads to the case before");
await page.goBack();
await page.goBack();
await page.waitForSelector(".grid-row.selected a");
assert.equal(await page.textContent(".grid-row.selected a"), last, "coming back keeps the row");

await page.keyboard.press("g");
// None of them passes.
await page.click('.chip[data-sets="verdict=pass"]');
await found(`0 of ${shown(cases)}`);
await page.click('.chip[data-sets="verdict=pass"]');
await found(`${shown(cases)} of`);
await changed("filter", "[name=tag]", "t1");
await found(`${shown(cases / 4)} of`);
await changed("no filter", "[name=tag]", "");
for (const sort of ["verdict", "score", "id"]) {
  await changed(`sort by ${sort}`, `[data-sort=${sort}]`);
  assert.ok(page.url().includes(`sort=${sort}`), "the address holds the order");
}
await timed("search", async () => {
  await page.fill("[data-search]", `question ${cases}`);
  await found("1 of");
});
await session.check(page, "a search in very many cases");
await page.fill("[data-search]", "nothing says this");
await found("0 of");

for (const [what, pathname] of [
  ["summary", run],
  ["plain table", `${run}/cases?page=${Math.ceil(cases / 500)}`],
  ["criteria", `${run}/criteria`],
  ["calibration", `${run}/calibration`],
  ["comparison", `/compare?base=${run.split("/").pop()}&candidate=${run.split("/").pop()}`],
  ["trend", "/trend"],
  ["runs", "/"],
]) {
  await timed(what, () => page.goto(at(pathname)));
  await session.check(page, what);
}
await session.end();
