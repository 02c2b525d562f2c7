// A page in Chromium plays the game that programs in all languages play together; ../../interop/README.md states its
// rules.
//
// node scripts/interop.mjs --server URL --name NAME --lines K [--seconds S]
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const PACKAGE = new URL("..", import.meta.url).pathname;
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"].map((name) => `/usr/bin/${name}`);

const options = Object.fromEntries(
  ["server", "name", "lines", "seconds"].map((name) => [name, { type: "string" }]),
);
const { server, name = "web", lines = "100", seconds = "30" } = parseArgs({ options }).values;
const executablePath = [process.env.CHROMIUM ?? "", ...BROWSERS].find((path) => existsSync(path));
if (server === undefined || executablePath === undefined) {
  console.error(server === undefined ? "--server URL is missing" : "there is no Chromium on this machine");
  process.exit(2);
}

/** The package's folder over HTTP, which is a secure context on this machine. */
const site = createServer((request, response) => {
  const path = normalize(new URL(request.url ?? "/", "http://site").pathname);
  const type = path.endsWith(".html") ? "text/html; charset=utf-8" : "text/javascript";
  readFile(join(PACKAGE, path)).then(
    (content) => response.writeHead(200, { "content-type": type }).end(content),
    () => response.writeHead(404).end(),
  );
});
await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
page.on("console", (message) => console.error(message.text()));
await page.goto(`http://127.0.0.1:${site.address().port}/tests/browser/interop.html`);
await page.waitForFunction("window.isReady");
const game = JSON.stringify({ url: server, name, lines: Number(lines), seconds: Number(seconds) });
const result = await page.evaluate(`play(${game})`);
console.log(JSON.stringify({ event: "result", role: "client", language: "web", ...result }));
await browser.close();
site.close();
process.exitCode = result.ok ? 0 : 1;
