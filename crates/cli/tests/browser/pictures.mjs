// Makes the pictures of the documentation.
// Arguments: the address of the pages of results, that of a review, the ids of the runs to show, and the folder of pictures.
import { strict as assert } from "node:assert";
import path from "node:path";
import { BrowserSession } from "./session.mjs";

const [results, review, run, base, candidate, folder] = process.argv.slice(2);
const session = await BrowserSession.launch();
const origin = new URL(results).origin;

// Pages as they are in a window of this size; `-dark` and `-narrow` are made for looking at them, not for the documentation.
const variants = [["", "light", 1000, 620], ["-dark", "dark", 1000, 620], ["-narrow", "light", 400, 800]];
const isWhole = Boolean(process.env.ASSIZE_ALL_PICTURES);
const all = isWhole ? variants : variants.slice(0, 1);

async function take(page, name) {
  await page.evaluate(() => document.activeElement.blur());
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}

for (const [suffix, scheme, width, height] of all) {
  const page = await session.open(results, scheme, width, height);
  await page.setViewportSize({ width, height });
  await page.goto(`${origin}/runs/${run}`);
  await take(page, `view-run${suffix}`);
  await page.goto(`${origin}/runs/${run}/cases`);
  await page.waitForSelector(".grid-body a");
  await take(page, `view-cases${suffix}`);
  await page.evaluate(() => localStorage.setItem("assize.reviewer", "ann"));
  await page.evaluate(() => scrollTo(0, 999));
  await page.locator(".criterion-cell.bad").first().hover();
  await page.waitForSelector("#criterion-note:not([hidden])");
  await take(page, `view-marks${suffix}`);
  await page.mouse.move(0, 0);
  if (isWhole) {
    await page.goto(`${origin}/runs/${run}/review`);
    await take(page, `review-start${suffix}`);
  }
  await page.goto(`${origin}/runs/${run}/case?suite=ferry-desk&id=dog-deck&repeat=1`);
  await take(page, `view-case${suffix}`);
  await page.goto(`${origin}/compare?base=${base}&candidate=${candidate}`);
  await take(page, `view-compare${suffix}`);
  await page.goto(`${origin}/matrix?run=${base}&run=${candidate}`);
  await take(page, `view-matrix${suffix}`);
  await page.goto(`${origin}/runs/intake/scorecard`);
  await take(page, `view-scorecard${suffix}`);
  await page.goto(`${origin}/runs/quickstart/calibration`);
  await page.evaluate(() => document.querySelector(".measurement h3").scrollIntoView());
  await take(page, `view-calibration${suffix}`);
  await page.context().close();

  const reviewer = await session.open(review, scheme, width, height);
  await reviewer.waitForSelector("form.deciding, .decided");
  await take(reviewer, `review${suffix}`);
  if (suffix) {
    await reviewer.goto(`${reviewer.url().split("?")[0]}/items`);
    await take(reviewer, `review-items${suffix}`);
  }
  await reviewer.context().close();
}
assert.equal(session.problems.length, 0, session.problems.join("\n"));
await session.end();
