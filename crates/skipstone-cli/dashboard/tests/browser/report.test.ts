// The report of `compare --report` as people open it: a file, in any theme and width, on paper, without a network.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SHOTS, TOOL, complaints, launch } from "./harness";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const plan = fileURLToPath(new URL("../../../../../plans/conditions.toml", import.meta.url));
const report = join(SHOTS, "report.html");

let browser: Browser;

beforeAll(async () => {
  await mkdir(SHOTS, { recursive: true });
  const who = ["--transports", "skipstone,kcp", "--modes", "lean,adaptive"];
  const run = ["--simulated", "--seeds", "2", "--minutes", "0.1", "--quiet", "--report", report];
  execFileSync(TOOL, ["compare", plan, ...who, ...run]);
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
});

for (const [name, colorScheme, width] of [
  ["light", "light", 1200],
  ["dark", "dark", 1200],
  ["phone", "light", 390],
] as const) {
  test(`it is drawn, fits and can be read: ${name}`, async () => {
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const troubles = complaints(page, "file://");
    await page.goto(pathToFileURL(report).href);
    await page.getByRole("button", { name: "bursts of 3, 2%", exact: true }).click();
    expect(await page.locator(".plot canvas").count()).toBe(3);
    expect(await page.locator(".figures").first().locator("tbody tr").count()).toBe(3);
    expect(await page.getByText("lost meanwhile").count()).toBeGreaterThan(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await page.locator("html").getAttribute("data-theme")).toBe(colorScheme);
    await page.screenshot({ path: join(SHOTS, `report-${name}.png`), fullPage: true });
    // The page allows no script but its own: axe comes by the debugger.
    const found = await page.evaluate(
      `${axeSource}; axe.run().then((all) => all.violations.map((one) => one.id + ": " + one.nodes.map((node) => node.target).join(" ")))`,
    );
    expect(found).toEqual([]);
    expect(troubles).toEqual([]);
    await page.close();
  });
}

test("on paper it is light", async () => {
  const page = await browser.newPage({ colorScheme: "dark" });
  await page.goto(pathToFileURL(report).href);
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
  const paper = await page.pdf({ format: "A4", path: join(SHOTS, "report.pdf") });
  expect(paper.length).toBeGreaterThan(20_000);
  await page.close();
});
