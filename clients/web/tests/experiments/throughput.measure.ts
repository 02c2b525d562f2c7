// The bytes that one tab receives and sends per second, each byte checked: `npm run experiment -- throughput`.
// SKIPSTONE_SECONDS is the duration of each measurement.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KINDS, type Browser } from "../browser/browsers";
import { until } from "../browser/programs";
import { serveSite, type Site } from "../browser/site";
import { servePages, type PagesServer } from "./pages";

const SECONDS = Number(process.env["SKIPSTONE_SECONDS"] ?? 5);
const OPTIONS = process.env["SKIPSTONE_OPTIONS"] ?? "{}";
const ONLY = process.env["SKIPSTONE_ONLY"] ?? "";
const WARM_MS = 2_000;
const [STREAM, DATAGRAMS] = [100, 101];
/** The size of a packet with a message of 1,000 bytes, for the lower bound. */
const DATAGRAM_BYTES = 1_024;

interface Flow {
  megabytesPerSecond: number;
  messages: number;
  bad: number;
  refused?: number;
  carrier: string;
  after: Record<string, unknown>;
  before: Record<string, unknown>;
}

describe.each(KINDS)("$name", (kind) => {
  if (kind.missing !== undefined) {
    test.skip(kind.missing, () => undefined);
    return;
  }
  let [site, browser, server]: [Site?, Browser?, PagesServer?] = [];

  beforeAll(async () => {
    [site, browser, server] = await Promise.all([serveSite(), kind.launch(), servePages("127.0.0.1:0")]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.program.stop();
    await site?.close();
  });

  test.each(["receive", "transmit"])("%s datagrams without a protocol", async (direction) => {
    if (!`${kind.name} floor ${direction}`.includes(ONLY)) {
      return;
    }
    const page = await browser?.open(`${site?.url}/tests/experiments/page.html`);
    if (page === undefined || server === undefined) {
      throw new Error("the browser and the server run");
    }
    await until("the module", () => page.evaluate("window.isReady"));
    const way = direction === "receive" ? `pour/${DATAGRAM_BYTES}` : "drain";
    const url = JSON.stringify(`https://127.0.0.1:${server.floor.port}/${way}`);
    const words = `${url}, "${server.floor.hash}", "${direction}", ${DATAGRAM_BYTES}, ${WARM_MS}, ${SECONDS * 1_000}`;
    const megabytesPerSecond = (await page.evaluate(`floor(${words})`)) as number;
    console.log(`${kind.name} floor ${direction} datagrams: ${megabytesPerSecond.toFixed(1)} MB/s`);
    expect(megabytesPerSecond).toBeGreaterThan(0);
    await page.close();
  });

  describe.each(["websocket", "webtransport"])("%s", (carrier) => {
    test.each([
      ["receive", STREAM, 16_384],
      ["receive", DATAGRAMS, 1_000],
      ["transmit", STREAM, 16_384],
      ["transmit", DATAGRAMS, 1_000],
    ])("%s on channel %i, %i bytes each", async (direction, channel, bytes) => {
      if (!`${kind.name} ${carrier} ${direction} ${channel}`.includes(ONLY)) {
        return;
      }
      const host = `127.0.0.1:${server?.port}`;
      const url = carrier === "websocket" ? `ws://${host}` : `https://${host}#sha256=${server?.hash}`;
      const page = await browser?.open(`${site?.url}/tests/experiments/page.html`);
      if (page === undefined) {
        throw new Error("the browser runs");
      }
      await until("the module", () => page.evaluate("window.isReady"));
      const call = `${direction}(${JSON.stringify(url)}, { fallback: false, ...${OPTIONS} }, ${channel}, ${bytes}, ${WARM_MS}, ${SECONDS * 1_000})`;
      const flow = (await page.evaluate(call)) as Flow;
      const { after } = flow;
      console.log(
        `${kind.name} ${flow.carrier} ${direction} ${channel === STREAM ? "reliable" : "datagrams"}: ` +
          `${flow.megabytesPerSecond.toFixed(1)} MB/s, ${flow.messages} messages, ${flow.bad} bad, ${flow.refused ?? 0} refused`,
      );
      if (process.env["SKIPSTONE_VERBOSE"]) {
        console.log(JSON.stringify(after));
      }
      expect(flow.carrier).toBe(carrier);
      expect(flow.bad).toBe(0);
      await page.close();
    });
  });
});
