// A run by agents on several machines, led from the page.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Process, SHOTS, agents, complaints, launch, serve, type Served } from "./harness";

let fleet: { url: string; all: Process[] } | undefined;
let browser: Browser;

beforeAll(async () => {
  await mkdir(SHOTS, { recursive: true });
  [browser, fleet] = await Promise.all([launch(), agents("oslo", "riga")]);
});

afterAll(async () => {
  await browser.close();
  // The first one has started NATS.
  for (const agent of fleet?.all.reverse() ?? []) await agent.end();
});

async function opened(served: Served): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
  await page.goto(`${served.page}#/stress`);
  await page.locator("html[data-ready=true]").waitFor();
  return page;
}

test("a server that was told of no agents offers none", async () => {
  const served = await serve();
  const page = await opened(served);
  expect(await page.getByLabel("Agents", { exact: true }).isVisible()).toBe(false);
  await page.close();
  await served.process.end();
});

test("a run by agents shows a row for each, and its result their table", async (context) => {
  if (!fleet) return context.skip("no nats-server is installed");
  const served = await serve("--stress-fleet", fleet.url);
  const page = await opened(served);
  const troubles = complaints(page, served.page);
  const live = page.getByRole("region", { name: "Agents of the run" });
  await page.getByLabel("Agents", { exact: true }).fill("3");
  await page.getByRole("spinbutton", { name: "Clients" }).fill("40");
  await page.getByRole("textbox", { name: "Lines per client" }).fill("5/s");
  await page.getByRole("textbox", { name: "Duration" }).fill("6s");
  await page.getByRole("button", { name: "Start" }).click();
  // The coordinator's own sentence, which names who is there.
  await page.getByText(/--agents 3: 2 agents are free; there are: oslo, riga/).waitFor();
  await page.getByLabel("Agents", { exact: true }).fill("2");
  await page.getByRole("button", { name: "Start" }).click();
  await live.getByRole("row", { name: /oslo running 20\/20/ }).waitFor();
  await live.getByRole("row", { name: /riga running 20\/20/ }).waitFor();
  await page.getByText(/[1-9][\d,]* lines arrived, none is missing/).waitFor();
  await page.screenshot({ path: join(SHOTS, "stress-agents-running.png") });
  await page.getByRole("button", { name: /^#1 / }).click();
  const result = page.getByRole("region", { name: "Agents in this result" });
  await result.getByRole("row", { name: /^oslo 20\/20/ }).waitFor();
  expect(await result.locator("tbody tr").count()).toBe(2);
  expect(await page.locator("pre").textContent()).toContain('"lost": 0');
  await page.screenshot({ path: join(SHOTS, "stress-agents-result.png"), fullPage: true });
  await page.getByRole("textbox", { name: "Duration" }).fill("60s");
  await page.getByRole("button", { name: "Start" }).click();
  await live.getByRole("row", { name: /riga running/ }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("row", { name: /#2 .* Interrupted/ }).waitFor();
  // An agent that dies ends the run by name.
  await page.getByRole("button", { name: "Start" }).click();
  await live.getByRole("row", { name: /riga running/ }).waitFor();
  await fleet.all[1]?.end("SIGKILL");
  await page.getByText(/agent riga was lost: no sign of life/).waitFor();
  expect(troubles).toEqual([]);
  await page.close();
  await served.process.end();
});
