// HTML reports in Chromium, from the disk: accessibility, width, and no request at all.
// Arguments: the files.
import { pathToFileURL } from "node:url";
import { BrowserSession } from "./session.mjs";

const session = await BrowserSession.launch();
for (const [colorScheme, width] of [["light", 1200], ["dark", 400]]) {
  for (const file of process.argv.slice(2)) {
    const page = await session.open(pathToFileURL(file).href, colorScheme, width);
    await session.check(page, `${file} ${colorScheme} ${width}`);
    await page.context().close();
  }
}
await session.end();
