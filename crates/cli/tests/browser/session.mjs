// A browser whose pages are watched: errors of scripts, violations of the content security policy, requests to other hosts,
// dialogs, pages that are wider than the window, and violations of accessibility rules.
// ASSIZE_BROWSER_MODULES names the folder that holds `node_modules`, CHROMIUM the browser.
import { createRequire } from "node:module";
import { strict as assert } from "node:assert";
import path from "node:path";

const require = createRequire(path.join(process.env.ASSIZE_BROWSER_MODULES, "walk.cjs"));
const { chromium } = require("playwright-core");
const axe = require("axe-core").source;

export class BrowserSession {
  static async launch() {
    const session = new BrowserSession();
    session.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu"],
    });
    return session;
  }

  problems = [];
  visited = 0;

  // Opens an address that holds a token, in a window of its own.
  async open(url, colorScheme = "light", width = 1200, height = 800) {
    const context = await this.browser.newContext({ colorScheme, viewport: { width, height } });
    context.setDefaultTimeout(60_000);
    return this.openIn(context, url);
  }

  async openIn(context, url) {
    const { problems } = this;
    const { origin } = new URL(url);
    // Policy violations are told to the page itself; axe is put into it by the test, outside of the policy.
    await context.addInitScript(() => {
      globalThis.violations = [];
      document.addEventListener("securitypolicyviolation", (event) => {
        globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    const page = await context.newPage();
    page.isDisconnected = false;
    page.on("console", (message) => {
      // A browser reports each request that fails; the page is to be read for what it says about that.
      if (message.type() === "error" && !page.isDisconnected) problems.push(`console: ${message.text()} (${page.url()})`);
    });
    page.on("pageerror", (error) => problems.push(`script: ${error.message} (${page.url()})`));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== origin && !request.url().startsWith("data:")) {
        problems.push(`request to ${request.url()} (${page.url()})`);
      }
    });
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()} (${page.url()})`);
      dialog.dismiss();
    });
    await page.goto(url);
    assert.ok(!page.url().includes("token="), "the token leaves the address");
    return page;
  }

  async check(page, what, isAudited = true) {
    this.visited += 1;
    const violations = await page.evaluate(() => globalThis.violations);
    for (const violation of violations) this.problems.push(`policy: ${violation} (${what})`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) this.problems.push(`${what} is ${over} px wider than the window`);
    assert.notEqual(await page.title(), "owned");

    if (!isAudited) return;
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const violation of found.violations) {
      const nodes = violation.nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${node.failureSummary}`);
      this.problems.push(`axe ${violation.id} (${what}): ${nodes.join(" | ")}`);
    }
  }

  // Prints what was found, and ends the process.
  async end() {
    await this.browser.close();
    const problems = new Set(this.problems);
    for (const problem of problems) console.error(problem);
    console.log(`${this.visited} pages, ${problems.size} problems`);
    process.exit(problems.size > 0 ? 1 : 0);
  }
}
