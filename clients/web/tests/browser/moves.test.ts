// A page among three real servers, which move their players from one to the next while these play the game of
// interop/README.md: every line of the page and of a native player arrives once and in order at both.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KINDS, type Browser } from "./browsers";
import { EXAMPLES, Program, until } from "./programs";
import { serveSite, type Site } from "./site";

const MOVES = 40;
const LINES = 300;
const SECONDS = 60;

interface Listening {
  url: string;
  port: number;
  pages?: string;
}

async function resultOf(program: Program): Promise<Record<string, unknown>> {
  return JSON.parse(await program.line('"result"')) as Record<string, unknown>;
}

describe.each(KINDS)("$name among servers that move it", (kind) => {
  if (kind.missing !== undefined) {
    test.skip(kind.missing, () => undefined);
    return;
  }
  let [site, browser]: [Site?, Browser?] = [];

  beforeAll(async () => {
    [site, browser] = await Promise.all([serveSite(), kind.launch()]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  test.each(["webtransport", "websocket"])(
    "by %s: no line is lost, doubled or out of order",
    async (carrier) => {
      const limits = ["--seconds", String(SECONDS)];
      const fleet = new Program(
        ["--clients", "2", "--moves", String(MOVES), ...limits],
        `${EXAMPLES}/interop_fleet`,
      );
      const listening = JSON.parse(await fleet.line('"listening"')) as Listening;
      // Clients reach the servers directly.
      fleet.say("");
      const native = new Program(
        ["--server", listening.url, "--name", "native", "--lines", String(LINES), ...limits],
        `${EXAMPLES}/interop`,
      );
      const page = await browser?.open(`${site?.url}/tests/browser/interop.html`);
      await until("the module", () => page?.evaluate("window.isReady"));
      const url = carrier === "webtransport" ? listening.pages : `ws://127.0.0.1:${listening.port}`;
      const game = { url, name: "page", lines: LINES, seconds: SECONDS };
      const played = page?.evaluate(`play(${JSON.stringify(game)})`);
      // All three, so that a failure shows what each of them knew.
      const results = { page: await played, native: await resultOf(native), fleet: await resultOf(fleet) };
      expect(results).toMatchObject({
        page: { ok: true, reason: "", carrier, sent: LINES, received: 2 * LINES },
        native: { ok: true, reason: "", received: 2 * LINES },
        fleet: { ok: true, reason: "", stayed: 0 },
      });
      expect(results.fleet["moves"]).toBeGreaterThanOrEqual(MOVES);
      await Promise.all([fleet.stop(), native.stop(), page?.close()]);
    },
    (SECONDS + 20) * 1_000,
  );
});
