// A run of very many cases in Chromium: time to painted rows, the last row, a filter and a search.
// Arguments: the address of the run, and its number of cases.
import { strict as assert } from "node:assert";
import { BrowserSession } from "./session.mjs";

const session = await BrowserSession.launch();
const cases = Number(process.argv[3]);
const page = await session.open(process.argv[2]);

async function timed(what, limit, act) {
  const begun = performance.now();
  await act();
  const took = performance.now() - begun;
  console.log(`${what}: ${took.toFixed(0)} ms`);
  assert.ok(took < limit, `${what} took ${took.toFixed(0)} ms, more than ${limit} ms`);
}

const found = (text) => page.waitForFunction((wanted) => document.getElementById("found").textContent.startsWith(wanted), text);
await timed("painted rows", 3000, async () => {
  await page.goto(`${page.url()}/cases`);
  await page.waitForSelector(".grid-body a");
});
await timed("last row", 1500, async () => {
  await page.keyboard.press("G");
  await page.waitForFunction((last) => document.querySelector(`.grid-row.selected[aria-rowindex="${last}"]`), cases + 1);
});
await timed("filter", 1500, async () => {
  await page.check("input[value=pass]");
  await page.waitForFunction(() => location.search.includes("verdict=pass"));
});
await page.uncheck("input[value=pass]");
await timed("search", 4000, async () => {
  await page.fill("[data-search]", `question ${cases}`);
  await found("1 of");
});
await session.check(page, "a table of very many cases");
await session.end();
