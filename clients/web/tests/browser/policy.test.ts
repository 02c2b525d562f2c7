// A page whose policy allows next to nothing, and one that is hidden.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KINDS, type Browser, type Page } from "./browsers";
import { roundTrip, sendAndCompute } from "./busy";
import { freePort, serve, until, type Program } from "./programs";
import { serveSite, type Site } from "./site";

describe.each(KINDS)("$name", (kind) => {
  if (kind.missing !== undefined) {
    test.skip(kind.missing, () => undefined);
    return;
  }
  let [browser, server, port]: [Browser?, Program?, number?] = [];
  const sites: Site[] = [];

  beforeAll(async () => {
    port = await freePort();
    [server, browser] = await Promise.all([serve(port, "--workload", "echo"), kind.launch()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await Promise.all(sites.map((site) => site.close()));
  });

  /** A page under this policy, whose client has this option for its worker. */
  const begin = async (policy: string | undefined, worker: string): Promise<Page> => {
    const site = await serveSite(policy);
    sites.push(site);
    const page = await browser?.open(`${site.url}/tests/browser/blank.html`);
    if (page === undefined) {
      throw new Error("the browser runs");
    }
    await until("the module", () => page.evaluate("window.isReady"));
    await page.evaluate(
      `begin("ws://127.0.0.1:${port}", { token: "chat page", reconnect: false, worker: ${worker} })`,
    );
    return page;
  };
  const holds = (page: Page, expression: string): Promise<unknown> =>
    until(expression, async () =>
      (await page.evaluate(`Boolean(${expression})`)) === true ? true : undefined,
    );

  const strict = "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; connect-src ws:";

  test("a page without blobs takes the worker's own file", async () => {
    const own = '() => new Worker("/dist/worker.js", { type: "module" })';
    const page = await begin(`${strict}; worker-src 'self'`, own);
    await holds(page, 'client.state === "connected"');
    await page.close();
  });

  test("the worker that comes with the module needs blob:, and else the client says so", async () => {
    const allowed = await begin(`${strict}; worker-src blob:`, "undefined");
    await holds(allowed, 'client.state === "connected"');
    await allowed.close();
    const page = await begin(`${strict}; worker-src 'self'`, "undefined");
    await holds(page, 'client.state === "closed"');
    expect(await page.evaluate("events.at(-1).close.reason")).toContain("worker");
    await page.close();
  });

  test("a page whose policy allows no WebAssembly says so", async () => {
    const page = await begin(
      "default-src 'none'; script-src 'self' 'unsafe-inline'; worker-src blob:",
      "undefined",
    );
    await holds(page, 'client.state === "closed"');
    expect(await page.evaluate("events.at(-1).close.reason")).toContain("wasm-unsafe-eval");
    await page.close();
  });

  // Firefox hands a worker's WebSocket to the page's thread (WebTransport not, see webtransport.test.ts).
  test.skipIf(kind.name === "firefox")("a page that is busy for two seconds still acknowledges", async () => {
    const page = await begin(undefined, "undefined");
    await holds(page, 'client.state === "connected"');
    await holds(page, "client.statistics()?.rtt.isMeasured");
    await page.evaluate('client.send(0, "before")');
    await holds(page, 'events.some((event) => event.type === "message")');
    await sendAndCompute(page);
    await holds(page, 'events.filter((event) => event.type === "message").length === 2');
    expect(await roundTrip(page)).toBeLessThan(200);
    await page.close();
  });
});
