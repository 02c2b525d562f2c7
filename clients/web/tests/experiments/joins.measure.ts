// Joining a busy server from a page, over links that lose packets, including those of TCP: `npm run experiment --
// joins`. Clients of the tool are connected to the server over a clean path, and a page connects 750 times, 10 times a
// second. SKIPSTONE_LOSSES, SKIPSTONE_DELAYS (ms, one way), SKIPSTONE_CLIENTS, SKIPSTONE_RATE, SKIPSTONE_CARRIERS and
// SKIPSTONE_BROWSERS select the cases; SKIPSTONE_COUNT and SKIPSTONE_JOINS (per second) set their number and rate,
// SKIPSTONE_TOOL the path of the tool.

import { describe, expect, test } from "vitest";
import { KINDS, type Kind } from "../browser/browsers";
import { Program, until } from "../browser/programs";
import { serveSite } from "../browser/site";
import { missing } from "./links";

const listed = (name: string, all: string): string[] => (process.env[name] ?? all).split(",");
const LOSSES = listed("SKIPSTONE_LOSSES", "0,0.02,0.05,0.1").map(Number);
const DELAYS = listed("SKIPSTONE_DELAYS", "10").map(Number);
const CLIENTS = listed("SKIPSTONE_CLIENTS", "20");
const RATE = process.env["SKIPSTONE_RATE"] ?? "1/s";
const CARRIERS = listed("SKIPSTONE_CARRIERS", "webtransport,websocket");
const BROWSERS = listed("SKIPSTONE_BROWSERS", "chromium");
const TOOL =
  process.env["SKIPSTONE_TOOL"] ?? new URL("../../../../target/release/skipstone", import.meta.url).pathname;
const COUNT = Number(process.env["SKIPSTONE_COUNT"] ?? 750);
/**
 * Browsers hold back: Chromium opens one WebSocket to a host at a time, and delays sessions of WebTransport in crowds.
 */
const PER_SECOND = Number(process.env["SKIPSTONE_JOINS"] ?? 10);
const NAMESPACE = `skip${process.pid}`;
const SCRIPT = new URL("link.py", import.meta.url).pathname;

interface Outcome {
  took: number[];
  failed: string[];
}

/** URLs of a server in the links' namespace, to which clients talk there; both become programs of the caller's. */
async function busyServer(clients: string, programs: Program[]): Promise<Record<string, string>> {
  const beneath = ["netns", "exec", NAMESPACE, TOOL];
  const words = ["serve", "--listen", "0.0.0.0:7777", "--console", "off", "--identity", "new"];
  const server = new Program([...beneath, ...words], "ip");
  programs.push(server);
  const pages = await server.line("  pages");
  const native = /skip:\S+/.exec(await server.line("  native"))?.[0] ?? "";
  const hash = /sha256=([0-9a-f]+)/.exec(pages)?.[1] ?? "";
  const local = native.replace(/\/\/[^#]*/, "//127.0.0.1:7777");
  const talkers = new Program(
    [...beneath, "stress", local, "-c", clients, "-r", RATE, "-d", "1h", "-q"],
    "ip",
  );
  programs.unshift(talkers);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return { webtransport: `https://10.77.0.2:7777#sha256=${hash}`, websocket: "ws://10.77.0.2:7777" };
}

async function joined(kind: Kind, site: string, url: string): Promise<Outcome> {
  const browser = await kind.launch();
  try {
    const page = await browser.open(`${site}/tests/experiments/page.html`);
    await until("the module", () => page.evaluate("window.isReady"));
    const call = `joins(${JSON.stringify(url)}, ${COUNT}, ${PER_SECOND})`;
    await page.evaluate(`void ${call}.then((it) => (window.outcome = it))`);
    await until(
      "the joins",
      () => page.evaluate("window.outcome !== undefined"),
      (COUNT / PER_SECOND + 60) * 1_000,
    );
    return JSON.parse(String(await page.evaluate("JSON.stringify(window.outcome)"))) as Outcome;
  } finally {
    await browser.close();
  }
}

function told({ took, failed }: Outcome): string {
  const sorted = [...took].sort((one, other) => one - other);
  const at = (share: number): string => (sorted[Math.floor(share * sorted.length)] ?? NaN).toFixed(0);
  const why = [...new Set(failed)].join("; ");
  return `unanswered ${failed.length} of ${COUNT}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${sorted.at(-1)?.toFixed(0) ?? "-"} ms ${why}`;
}

describe.skipIf(missing !== undefined)("joining a busy server", () => {
  test("from a page", async () => {
    const site = await serveSite();
    const kinds = KINDS.filter(({ name, missing }) => missing === undefined && BROWSERS.includes(name));
    let unanswered = 0;
    for (const kind of kinds) {
      for (const clients of CLIENTS) {
        for (const [delay, loss] of DELAYS.flatMap((delay) => LOSSES.map((loss) => [delay, loss] as const))) {
          const link = new Program([SCRIPT, NAMESPACE, String(delay), String(loss)], "python3");
          await link.line("up");
          const programs: Program[] = [];
          try {
            const urls = await busyServer(clients, programs);
            for (const carrier of CARRIERS) {
              const outcome = await joined(kind, site.url, urls[carrier] ?? "");
              unanswered += outcome.failed.length;
              console.log(
                `${kind.name} ${carrier}, ${clients} clients at ${RATE}, loss ${loss * 100}%, delay ${delay} ms: ${told(outcome)}`,
              );
            }
          } finally {
            for (const program of programs) {
              await program.stop();
            }
            link.end();
          }
          await link.line("[");
        }
      }
    }
    await site.close();
    expect(kinds.length).toBeGreaterThan(0);
    expect(unanswered).toBe(0);
  });
});
