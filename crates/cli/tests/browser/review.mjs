// Reviews in Chromium, by keys and by mouse: what is shown and what is not, two reviewers, a server that is killed and
// started again, texts that try to be scripts.
// Arguments: the program, and the ids of the run with hostile texts and of the one with many cases.
import { spawn } from "node:child_process";
import { strict as assert } from "node:assert";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { BrowserSession } from "./session.mjs";

const [program, hostileRun, largeRun] = process.argv.slice(2);
const session = await BrowserSession.launch();
const TOKEN = "a-token-of-the-browser-test";

// Servers that run: none outlives this script.
const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

// A server of pages, and the addresses it prints.
class PageServer {
  static async start(commandLine, addresses = 1, token = TOKEN) {
    const server = new PageServer();
    const env = { PATH: process.env.PATH, HOME: process.cwd(), ASSIZE_VIEW_TOKEN: token };
    server.child = spawn(program, commandLine, { env, stdio: ["ignore", "pipe", "ignore"] });
    running.add(server.child);
    server.child.once("exit", () => running.delete(server.child));
    server.urls = [];
    for await (const line of createInterface({ input: server.child.stdout })) {
      server.urls.push(line.split(/\s+/).at(-1));
      if (server.urls.length === addresses) break;
    }
    assert.equal(server.urls.length, addresses, "the server prints its addresses");
    return server;
  }

  async kill(signal = "SIGKILL") {
    const ended = new Promise((done) => this.child.once("exit", done));
    this.child.kill(signal);
    await ended;
  }
}

// Labels of a reviewer in a file, oldest first.
function labels(folder, who) {
  const file = `${folder}/review-${who}.jsonl`;
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

// What judges said in a run, as it would stand in a page.
function judgeTexts(run) {
  const rows = readFileSync(`.assize/runs/${run}/judgements.jsonl`, "utf8").split("\n").filter(Boolean);
  const reasons = rows.map((row) => JSON.parse(row).reason ?? "").filter((reason) => reason.length > 12);
  assert.ok(reasons.length > 0, "judges gave reasons");
  return [...new Set(reasons)].map((reason) => reason.slice(0, 40));
}

// Everything that the server sends to a page.
function record(page) {
  const replies = [];
  page.on("response", async (response) => {
    try {
      replies.push({ url: response.url(), text: JSON.stringify(response.headers()) + (await response.text()) });
    } catch {
      // Redirects have no text.
    }
  });
  return replies;
}

const decided = (page) => page.waitForSelector("#own");
const undecided = (page) => page.waitForSelector("form.deciding");
const textOf = (page, selector) => page.locator(selector).innerText();

async function press(page, key, after) {
  await page.keyboard.press(key);
  await after(page);
}

// From the page of a run into a review and out again, with texts that try to be markup.
async function beginOnPage(colorScheme, width) {
  const server = await PageServer.start(["view", hostileRun, "--no-open", "--port", "0"]);
  const page = await session.open(server.urls[0], colorScheme, width);
  const what = (text) => `${text} ${colorScheme} ${width}`;
  await page.click("text=Review");
  await page.waitForSelector("form[data-start]");
  await session.check(page, what("the start of a review"));
  await page.fill("#who", "   ");
  page.isDisconnected = true;
  await page.click("text=Start");
  await page.waitForSelector("#unsaved:visible");
  page.isDisconnected = false;

  const who = `eve-${width}`;
  await page.fill("#who", who);
  await page.check("input[value=random]");
  const replies = record(page);
  await page.click("text=Start");
  await undecided(page);
  await session.check(page, what("an item"));
  const shown = await textOf(page, "main");
  for (const text of ["<script>document.title='owned'</script>", "<img src=x onerror=alert(1)>", "\\u{1b}[31mred"]) {
    assert.ok(shown.includes(text), `${text} is shown as text: ${shown}`);
  }

  // Pages of results stay closed, by address as well.
  await page.goto(new URL(`/runs/${hostileRun}/cases/1`, page.url()).href);
  await undecided(page);
  assert.match(await textOf(page, "main"), /Pages of results are closed while you review/);
  await session.check(page, what("a page that is closed"), false);

  // Keys do nothing while a note is typed, and a reload loses nothing of it.
  await page.keyboard.press("e");
  await page.keyboard.type("puffin? x");
  await page.reload();
  await undecided(page);
  assert.equal(await page.inputValue("textarea"), "puffin? x");
  await page.keyboard.press("e");
  await page.keyboard.press("Enter");
  await page.keyboard.press("s");
  assert.equal(await page.inputValue("select"), "low");
  assert.equal(labels("labels", who).length, 0);
  for (const text of judgeTexts(hostileRun)) {
    for (const reply of replies) assert.ok(!reply.text.includes(text), `${reply.url} tells what the judge said`);
  }

  await press(page, "f", decided);
  assert.match(await textOf(page, "#own"), /^fail, severity low: puffin\? x$/);
  assert.ok((await textOf(page, "#judge")).length > 0);
  await session.check(page, what("a decided item"));
  const [label] = labels("labels", who);
  assert.deepEqual([label.label, label.note, label.severity, label.sampled], ["unmet", "puffin? x", "low", "random"]);

  await press(page, "z", undecided);
  assert.equal(await page.locator("#judge").count(), 0, "the judge is hidden again");
  await press(page, "p", decided);
  assert.equal(labels("labels", who)[1]["x-after-judge"], true);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").isVisible());
  await session.check(page, what("the keys of a review"), false);
  await page.keyboard.press("Escape");

  await page.keyboard.press("Enter");
  await page.waitForSelector("text=Nothing is left to decide");
  await session.check(page, what("the end of a review"));
  await page.click("text=All items >> nth=0");
  await page.waitForSelector("table");
  await session.check(page, what("the items of a review"));
  await page.keyboard.press("q");
  await page.waitForURL(`**/runs/${hostileRun}`);
  await page.context().close();
  await server.kill("SIGINT");
}

// Two reviewers of the same items, and a server that is killed while they decide.
async function surviveKill() {
  const reviewers = ["--who", "ann", "--who", "ben"];
  const command = ["review", largeRun, "--browser", "--no-open", "--limit", "20", ...reviewers];
  let server = await PageServer.start([...command, "--port", "0"], 2);
  const { port } = new URL(server.urls[0]);
  const [ann, ben] = [await session.open(server.urls[0]), await session.open(server.urls[1], "dark", 400)];
  await undecided(ann);
  await undecided(ben);
  const item = new URL(ann.url()).searchParams.get("item");
  assert.equal(new URL(ben.url()).searchParams.get("item"), item, "both are asked the same");
  assert.match(await textOf(ann, "[data-progress]"), /^0 of 20 decided$/);

  // By mouse and by key.
  await ann.click("text=Pass");
  await decided(ann);
  await press(ben, "f", decided);
  await session.check(ben, "a decided item of the second reviewer");
  assert.deepEqual([labels("labels", "ann").length, labels("labels", "ben").length], [1, 1]);
  await ann.keyboard.press("Enter");
  await undecided(ann);
  await ann.keyboard.press("x");
  await ann.waitForFunction(() => document.querySelector("[data-progress]").textContent.includes("1 skipped"));

  // Nothing is lost that was answered, and what could not be sent is said and kept.
  await server.kill();
  ann.isDisconnected = true;
  await ann.keyboard.press("e");
  await ann.keyboard.type("while it was away");
  await ann.keyboard.press("Escape");
  await ann.keyboard.press("u");
  await ann.waitForSelector("#unsaved:visible");
  assert.match(await textOf(ann, "#unsaved"), /^Not saved: unsure\. .*kept in this browser/);
  await session.check(ann, "a decision that is not saved");
  await ann.keyboard.press("p");
  assert.equal(labels("labels", "ann").length, 1);

  server = await PageServer.start([...command, "--port", port], 2);
  await decided(ann);
  assert.match(await textOf(ann, "#own"), /^unsure: while it was away$/);
  assert.match(await textOf(ann, "[data-progress]"), /^2 of 20 decided$/);
  assert.equal(labels("labels", "ann").length, 2);

  // Started again with another token: the page says so, and the new address sends what was kept.
  await ann.keyboard.press("Enter");
  await undecided(ann);
  await server.kill();
  server = await PageServer.start([...command, "--port", port], 2, "another-token-of-the-test");
  await ann.keyboard.press("u");
  await ann.waitForFunction(() => document.getElementById("unsaved").textContent.includes("open the address"));
  assert.equal(labels("labels", "ann").length, 2);
  const context = ann.context();
  await ann.close();
  const again = await session.openIn(context, server.urls[0]);
  await again.waitForFunction(() => document.querySelector("[data-progress]").textContent.startsWith("3 of 20"));
  const said = labels("labels", "ann").map((label) => label.label);
  assert.deepEqual(said, ["met", "unsure", "unsure"]);
  assert.deepEqual(labels("labels", "ben").map((label) => label.label), ["unmet"]);

  // The address of one reviewer in the browser of another does not decide in the wrong name.
  await again.goto(new URL(server.urls[0]).origin);
  await undecided(again);
  const other = await context.newPage();
  await other.goto(server.urls[1]);
  again.isDisconnected = true;
  await again.keyboard.press("f");
  await again.waitForSelector("#unsaved:visible");
  assert.match(await textOf(again, "#unsaved"), /Another review was opened/);
  assert.deepEqual([labels("labels", "ann").length, labels("labels", "ben").length], [3, 1]);
  await context.close();
  await ben.context().close();
  await server.kill("SIGINT");
}

// An item that another reviewer decides, and that so leaves the queue, while a decision on it can't be sent.
async function decideWhatLeftTheQueue() {
  const folder = "waiting/labels";
  const start = (criterion, port) =>
    PageServer.start(
      ["review", "runs/waiting", "--browser", "--no-open", "--port", port, "--who", "ann", "--who", "ben", "--criterion", criterion],
      2,
    );
  let server = await start("S-DOC2", "0");
  const { port } = new URL(server.urls[0]);
  const [ann, ben] = [await session.open(server.urls[0]), await session.open(server.urls[1])];
  await undecided(ann);
  await undecided(ben);
  await press(ann, "p", decided);
  await server.kill();
  ben.isDisconnected = true;
  await ben.keyboard.press("f");
  await ben.waitForFunction(() => document.getElementById("unsaved").textContent.includes("kept in this browser"));

  // A review of something else does not know the item: the decision stays where it is, and the page says why.
  server = await start("S-DOC1", port);
  await ben.waitForFunction(() => document.getElementById("unsaved").textContent.includes("does not ask for the item"));
  await ben.reload();
  await ben.waitForFunction(() => document.getElementById("unsaved").textContent.includes("Not saved: fail"));
  assert.equal(labels(folder, "ben").length, 0);
  await server.kill();

  server = await start("S-DOC2", port);
  await ben.goto(server.urls[1]);
  await ben.waitForFunction(() => /^1 of /.test(document.querySelector("[data-progress]").textContent));
  assert.deepEqual(labels(folder, "ben").map((label) => label.label), ["unmet"]);
  assert.ok(await ben.locator("#unsaved").isHidden());
  await ann.context().close();
  await ben.context().close();
  await server.kill("SIGINT");
}

// The kinds of questions of a scorecard, from the keyboard alone.
async function reviewScorecard() {
  const folder = "examples/scorecard/labels";
  const before = labels(folder, "carol").length;
  const start = (more) => PageServer.start(["review", "runs/card", "--browser", "--no-open", "--port", "0", "--who", "carol", ...more]);
  let server = await start(["--criterion", "S-DOC1"]);
  let page = await session.open(server.urls[0]);
  await session.check(page, "a question with a scale");
  await page.keyboard.press("v");
  await page.keyboard.type("9");
  await page.keyboard.press("Enter");
  assert.match(await textOf(page, "#status"), /from 1 to 5/);
  await page.keyboard.press("Backspace");
  await page.keyboard.type("4.5");
  await press(page, "Enter", decided);
  assert.equal(labels(folder, "carol").at(-1).label, 4.5);
  await page.context().close();
  await server.kill("SIGINT");

  server = await start(["--traces"]);
  page = await session.open(server.urls[0], "light", 400);
  await session.check(page, "a first failure");
  await page.keyboard.press("c");
  await page.keyboard.press("ArrowDown");
  await press(page, "Enter", decided);
  await press(page, "Enter", undecided);
  await press(page, "o", decided);
  const [named, clean] = labels(folder, "carol").slice(before + 1);
  assert.ok(named["x-primary"] && named.criterion, "a failure was named");
  assert.equal(clean.criterion, "NO_FAILURE");
  await page.context().close();
  await server.kill("SIGINT");

  server = await start(["--adjudicate"]);
  page = await session.open(server.urls[0], "dark", 1200);
  assert.match(await textOf(page, "main"), /Decisions of reviewers/);
  await session.check(page, "an adjudication");
  await press(page, "p", decided);
  assert.equal(labels(folder, "carol").at(-1).adjudicates, true);
  await server.kill("SIGINT");
}

await beginOnPage("light", 1200);
await beginOnPage("dark", 400);
await surviveKill();
await decideWhatLeftTheQueue();
await reviewScorecard();
await session.end();
