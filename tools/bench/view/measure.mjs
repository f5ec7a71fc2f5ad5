// Times of a viewer of 100,000 cases in Chromium, in milliseconds, as one line of JSON.
// Arguments: `assize`, `inspect` or `promptfoo`; the number of rounds; the folder to start in; the program and its
// arguments. BENCH_MODULES names the folder with `node_modules`, CHROMIUM the browser.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";

const require = createRequire(path.join(process.env.BENCH_MODULES, "measure.cjs"));
const { chromium } = require("playwright-core");
const [tool, rounds, folder, program, ...parameters] = process.argv.slice(2);
const LIMIT = 120_000;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answers(url) {
  for (;;) {
    try {
      await fetch(url);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

// Largest resident memory of a process and of those that it started, in bytes.
function peakMemory(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const own = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return children.reduce((sum, child) => sum + peakMemory(child), own);
}

// Starts the server. Returns the process and the address of the rows.
async function start() {
  const port = await freePort();
  const all = parameters.map((word) => word.replace("PORT", port));
  const server = spawn(program, all, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  if (tool !== "assize") {
    await answers(`http://127.0.0.1:${port}/`);
    const rows = tool === "inspect" ? "/" : "/eval/eval-bench-2026-01-01T00:00:00";
    return [server, `http://127.0.0.1:${port}${rows}`];
  }

  let printed = "";
  const line = await new Promise((resolve) => {
    server.stdout.on("data", (bytes) => {
      printed += bytes;
      if (printed.includes("\n")) resolve(printed.split("\n")[0]);
    });
  });
  const url = new URL(line);
  url.pathname += "/cases";
  return [server, url.href];
}

const ROWS = { assize: ".grid-body a", inspect: "[role=row] [role=gridcell]", promptfoo: "table tbody tr" };

// What a user does with the table, timed inside of the page from the act until its result is painted.
function useTable(page) {
  return page.evaluate(async () => {
    const found = document.getElementById("found");
    const form = document.getElementById("filters");
    const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    // The table says how many cases it found whenever rows come in, also where they are those that were there before.
    async function timed(act, isDone) {
      const begun = performance.now();
      await new Promise((resolve, reject) => {
        const observer = new MutationObserver(() => {
          if (!isDone()) return;
          observer.disconnect();
          resolve();
        });
        observer.observe(found, { childList: true, characterData: true, subtree: true });
        setTimeout(() => reject(new Error(`nothing changed: ${act}`)), 60_000);
        act();
      });
      await painted();
      return performance.now() - begun;
    }
    const changed = (act) => timed(act, () => !document.querySelector(".grid-body").textContent.includes("…"));
    const choose = (name, value) => () => {
      form.elements[name].value = value;
      form.elements[name].dispatchEvent(new Event("input", { bubbles: true }));
    };

    const total = document.getElementById("cases-grid").getAttribute("aria-rowcount") - 1;
    const times = {};
    // By a criterion, since every case may have the same verdict.
    form.elements.outcome.value = "unmet";
    times.filter = await changed(choose("criterion", form.elements.criterion.options[1].value));
    await changed(choose("criterion", ""));
    times.sort = await changed(choose("sort", "id"));
    times.sortScore = await changed(choose("sort", "score"));
    await changed(choose("sort", "place"));
    const view = document.querySelector(".grid-view");
    times.last = await changed(() => (view.scrollTop = view.scrollHeight));
    const before = found.textContent;
    times.search = await timed(
      () => {
        form.elements.q.value = `question ${total - 1}:`;
        form.requestSubmit();
      },
      () => found.textContent !== before,
    );

    const base = location.pathname;
    const cases = [];
    await (await fetch(`${base}/1`)).text();
    for (let at = 0; at < 20; at++) {
      const begun = performance.now();
      await (await fetch(`${base}/${1 + ((at * 7919) % total)}`)).text();
      cases.push(performance.now() - begun);
    }
    times.case = cases.sort((a, b) => a - b)[10];
    return times;
  });
}

const results = [];
for (let round = 0; round < Number(rounds); round++) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(LIMIT);
  const page = await context.newPage();
  const begun = performance.now();
  const [server, url] = await start();
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForSelector(ROWS[tool]);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const result = { painted: performance.now() - begun };
  if (tool === "assize") {
    await page.waitForFunction(() => /^([\d,]+) of \1/.test(document.getElementById("found").textContent));
    result.complete = performance.now() - begun;
    Object.assign(result, await useTable(page));
  }
  result.memory = peakMemory(server.pid);
  results.push(result);
  await context.close();
  server.kill("SIGINT");
  await new Promise((resolve) => server.once("exit", resolve));
}
await browser.close();

// The median of the rounds.
const median = {};
for (const key of Object.keys(results[0])) {
  const values = results.map((result) => result[key]).sort((a, b) => a - b);
  median[key] = values[Math.floor(values.length / 2)];
}
console.log(JSON.stringify(median));
