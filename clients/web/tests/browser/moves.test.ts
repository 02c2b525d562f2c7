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
      expect(await page?.evaluate(`play(${JSON.stringify(game)})`)).toMatchObject({
        ok: true,
        reason: "",
        carrier,
        sent: LINES,
        received: 2 * LINES,
      });
      expect(JSON.parse(await native.line('"result"'))).toMatchObject({ ok: true, received: 2 * LINES });
      const result = JSON.parse(await fleet.line('"result"')) as { moves: number };
      expect(result).toMatchObject({ ok: true, stayed: 0 });
      expect(result.moves).toBeGreaterThanOrEqual(MOVES);
      await Promise.all([fleet.stop(), native.stop(), page?.close()]);
    },
    (SECONDS + 20) * 1_000,
  );
});
