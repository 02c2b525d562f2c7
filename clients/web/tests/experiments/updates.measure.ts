// The worst update in time, from a page: 25 entities, 60 updates a second of 50 bytes each, to an echoing server and
// back, over links of 20 ms round trip. A page and the native client run at the same time, each over a link with loss
// and over one without, first over WebTransport, then over a WebSocket: `npm run experiment -- updates`.
// SKIPSTONE_SECONDS is the duration, SKIPSTONE_JSON a file for the result.

import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { KINDS, type Browser, type Kind, type Page } from "../browser/browsers";
import { Program, until } from "../browser/programs";
import { serveSite } from "../browser/site";
import { missing } from "./links";
import { PAGES, servePages, type PagesServer } from "./pages";

const SECONDS = Number(process.env["SKIPSTONE_SECONDS"] ?? 120);
const LOSSES = (process.env["SKIPSTONE_LOSSES"] ?? "0.005,0.02").split(",").map(Number);
const DELAY_MS = 10;
/** Some alone, when a figure is to be explained. */
const CARRIERS = (process.env["SKIPSTONE_CARRIERS"] ?? "webtransport,websocket").split(",");
const BROWSERS = (process.env["SKIPSTONE_BROWSERS"] ?? "chromium,firefox").split(",");
const NAMESPACE = `skip${process.pid}`;
/** Each client warms up: engines compile hot code, connections learn their path. These updates are not counted. */
const WARM_SECONDS = 2;
const UPDATES_PER_SECOND = 25 * 60;
/** Bytes that `adaptive` sends for each byte at 2% loss. */
const REDUNDANT_SHARE = 1.75;
/** The latency that the page may add under loss, beyond what it adds without. */
const ADDED_MS = 2;

interface Outcome {
  roundTrips: number[];
  lost: number;
  bad: number;
  refused?: number;
  lateTicks?: number;
  latest?: number;
  visibility?: string;
}

interface Row {
  browser: string;
  client: string;
  loss: number;
  count: number;
  lost: number;
  bad: number;
  p50: number;
  p99: number;
  p998: number;
  max: number;
  /** For a page: ticks that began more than 4 ms late, and the maximum delay, in ms. */
  lateTicks?: number | undefined;
  latest?: number | undefined;
  visibility?: string | undefined;
}

/** A thread that only sleeps: while it is late, so is everything. */
class StallWatch {
  readonly stalls: [number, number][] = [];
  #last = now();
  readonly #timer = setInterval(() => {
    const at = now();
    if (at - this.#last > 5) {
      this.stalls.push([this.#last, at]);
    }
    this.#last = at;
  }, 1);

  stop(): void {
    clearInterval(this.#timer);
  }

  get longest(): number {
    return Math.max(0, ...this.stalls.map(([from, to]) => to - from));
  }
}

const now = (): number => performance.timeOrigin + performance.now();

function row(browser: string, client: string, loss: number, outcome: Outcome): Row {
  const { roundTrips, lost, bad, lateTicks, latest, visibility } = outcome;
  const measured = roundTrips.slice(WARM_SECONDS * UPDATES_PER_SECOND);
  const sorted = measured.map((ns) => ns / 1e6).sort((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  const [p50, p99, p998, max] = [at(0.5), at(0.99), at(0.998), sorted.at(-1) ?? NaN];
  return {
    browser,
    client,
    loss,
    count: sorted.length,
    lost,
    bad,
    p50,
    p99,
    p998,
    max,
    lateTicks,
    latest,
    visibility,
  };
}

function table(rows: readonly Row[]): string {
  const head = [
    "browser",
    "loss",
    "client",
    "p50",
    "p99",
    "p99.8",
    "max",
    "updates",
    "lost",
    "late ticks",
    "latest",
    "visibility",
  ];
  const lines = rows.map((row) => [
    row.browser,
    `${row.loss * 100}%`,
    row.client,
    ...[row.p50, row.p99, row.p998, row.max].map((ms) => ms.toFixed(2)),
    row.count.toLocaleString("en"),
    String(row.lost),
    String(row.lateTicks ?? ""),
    row.latest?.toFixed(2) ?? "",
    row.visibility ?? "",
  ]);
  const widths = head.map((name, at) => Math.max(name.length, ...lines.map((line) => line[at]?.length ?? 0)));
  const text = (cells: string[]): string =>
    cells
      .map((cell, at) => (at < 3 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join("  ");
  return [head, ...lines].map(text).join("\n");
}

async function pageOf(browser: Browser, site: string): Promise<Page> {
  const page = await browser.open(`${site}/tests/experiments/page.html`);
  await until("the module", () => page.evaluate("window.isReady"));
  return page;
}

/**
 * Starts the run in the page, and requests the outcome at the end: drivers give up on a promise that takes minutes, and
 * polling would disturb the run.
 */
async function inPage(page: Page, url: string): Promise<Outcome> {
  return outcomeOf(page, `updates(${JSON.stringify(url)}, { fallback: false }, ${SECONDS + WARM_SECONDS})`);
}

async function outcomeOf(page: Page, call: string): Promise<Outcome> {
  await page.evaluate(
    `window.outcome = undefined; void ${call}.then((it) => (window.outcome = it), (error) => (window.outcome = String(error)))`,
  );
  await new Promise((resolve) => setTimeout(resolve, (SECONDS + WARM_SECONDS) * 1_000));
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    if ((await page.evaluate("window.outcome !== undefined")) === true) {
      const outcome = JSON.parse(String(await page.evaluate("JSON.stringify(window.outcome)"))) as Outcome;
      if (typeof outcome === "string") {
        throw new Error(outcome);
      }
      return outcome;
    }
  }
}

async function native(url: string): Promise<Outcome> {
  const client = new Program(["echo", url, String(SECONDS + WARM_SECONDS)], PAGES);
  const line = await until(
    "the native client",
    () => client.lines.find((line) => line.startsWith("{")),
    (SECONDS + WARM_SECONDS + 30) * 1_000,
  );
  return JSON.parse(line) as Outcome;
}

/** Pages over one carrier and native clients, each over a link with loss and over one without, at one time. */
async function measured(
  kind: Kind,
  carrier: string,
  loss: number,
  server: PagesServer,
  site: string,
): Promise<Row[]> {
  // One for each: of two pages in a window the other would hide one.
  const browsers = [await kind.launch(), await kind.launch()];
  try {
    const cases: Promise<Row>[] = [];
    for (const [link, browser] of browsers.entries()) {
      const of = link === 0 ? loss : 0;
      const host = `10.77.${link}.2:${server.port}`;
      const url = carrier === "websocket" ? `ws://${host}` : `https://${host}#sha256=${server.hash}`;
      const page = await pageOf(browser, site);
      cases.push(inPage(page, url).then((outcome) => row(kind.name, carrier, of, outcome)));
      const encrypted = server.url.replace(/\/\/[^#]*/, `//${host}`);
      cases.push(native(encrypted).then((outcome) => row(kind.name, "native", of, outcome)));
    }
    return await Promise.all(cases);
  } finally {
    await Promise.all(browsers.map((browser) => browser.close()));
  }
}

/**
 * The floor: the updates as bare datagrams over the same link, alone and with as many additional bytes as redundancy
 * uses. Only those that arrived count: the latency of the browser and the path alone.
 */
async function floors(kind: Kind, loss: number, server: PagesServer, site: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const share of [1, REDUNDANT_SHARE]) {
    const browser = await kind.launch();
    try {
      const page = await pageOf(browser, site);
      const url = `https://10.77.0.2:${server.floor.port}/echo`;
      const words = [url, server.floor.hash, SECONDS + WARM_SECONDS, share].map((word) =>
        JSON.stringify(word),
      );
      const outcome = await outcomeOf(page, `bareUpdates(${words.join()})`);
      rows.push(row(kind.name, share === 1 ? "bare" : `bare, ${share} x`, loss, outcome));
    } finally {
      await browser.close();
    }
  }
  return rows;
}

describe("the worst update in time", () => {
  if (missing !== undefined) {
    test("from a page", () => {
      throw new Error(missing);
    });
    return;
  }
  test("from a page", async () => {
    const [rows, beneath]: [Row[], Row[]] = [[], []];
    const stalls: object[] = [];
    const site = await serveSite();
    for (const kind of KINDS.filter(
      ({ name, missing }) => missing === undefined && BROWSERS.includes(name),
    )) {
      for (const loss of LOSSES) {
        const script = new URL("link.py", import.meta.url).pathname;
        const link = new Program([script, NAMESPACE, String(DELAY_MS), String(loss), "0"], "python3");
        await link.line("up");
        const server = await servePages("0.0.0.0:0", ["ip", "netns", "exec", NAMESPACE]);
        const watch = new StallWatch();
        for (const carrier of CARRIERS) {
          rows.push(...(await measured(kind, carrier, loss, server, site.url)));
        }
        beneath.push(...(await floors(kind, loss, server, site.url)));
        watch.stop();
        stalls.push({ browser: kind.name, loss, count: watch.stalls.length, longest: watch.longest });
        await server.program.stop();
        link.end();
        console.log(`${kind.name} ${loss}: link ${await link.line("[")}`);
      }
    }
    await site.close();
    console.log(`${table([...rows, ...beneath])}\nstalls of this process: ${JSON.stringify(stalls)}`);
    const verdicts = judge(rows);
    console.log(verdicts.map(({ text }) => text).join("\n"));
    if (process.env["SKIPSTONE_JSON"] !== undefined) {
      writeFileSync(
        process.env["SKIPSTONE_JSON"],
        JSON.stringify({ seconds: SECONDS, rows, floors: beneath, stalls, verdicts }, undefined, 1),
      );
    }
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ bad, lost }) => bad === 0 && lost === 0)).toBe(true);
    expect(verdicts.filter(({ isMet }) => !isMet)).toEqual([]);
  });
});

/** The page's p99.8 is at most the native p99.8, plus what the page adds without loss, plus a tolerance. */
function judge(rows: readonly Row[]): { text: string; isMet: boolean }[] {
  const runs = rows.filter(({ client, loss }) => client === "webtransport" && loss > 0);
  return runs.map((page) => {
    const at = rows.indexOf(page);
    // A page and a native client over each of the two links, at one time.
    const run = rows.slice(at - (at % 4), at - (at % 4) + 4);
    const p998 = (client: string, loss: number): number =>
      run.find((other) => other.client === client && other.loss === loss)?.p998 ?? NaN;
    const added = Math.max(0, p998("webtransport", 0) - p998("native", 0));
    const limit = p998("native", page.loss) + added + ADDED_MS;
    const isMet = page.p998 <= limit;
    const text = `${page.browser} at ${page.loss * 100}%: p99.8 ${page.p998.toFixed(2)} ms, at most ${limit.toFixed(2)} (native ${p998("native", page.loss).toFixed(2)}, the page adds ${added.toFixed(2)}): ${isMet ? "met" : "MISSED"}`;
    return { text, isMet };
  });
}
