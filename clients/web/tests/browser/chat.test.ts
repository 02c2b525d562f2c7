// A page and a native player talk to each other through a real server; the page survives a reload and the server's
// restart.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KINDS, type Browser, type Page } from "./browsers";
import { chat, freePort, serve, until, type Program } from "./programs";
import { serveSite, type Site } from "./site";

describe.each(KINDS)("$name", (kind) => {
  const { name, missing } = kind;
  if (missing !== undefined) {
    test.skip(missing, () => undefined);
    return;
  }
  let [site, browser, server, port]: [Site?, Browser?, Program?, number?] = [];
  let page: Page;

  const begin = async (options: object): Promise<void> => {
    await until("the module", () => page.evaluate("window.isReady"));
    await page.evaluate(`begin("ws://127.0.0.1:${port}", ${JSON.stringify(options)})`);
  };
  /** Waits until an expression in the page is true. */
  const holds = (expression: string): Promise<unknown> =>
    until(expression, async () =>
      (await page.evaluate(`Boolean(${expression})`)) === true ? true : undefined,
    );
  const heard = (text: string): string =>
    `events.some((event) => event.type === "message" && decode(event.payload) === ${JSON.stringify(text)})`;

  beforeAll(async () => {
    port = await freePort();
    [site, server, browser] = await Promise.all([serveSite(), serve(port), kind.launch()]);
    page = await browser.open(`${site.url}/tests/browser/blank.html`);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await site?.close();
  });

  test("a line reaches the other side, in both directions", async () => {
    const native = await chat(`skip+plain://127.0.0.1:${port}`, "native");
    await begin({ token: "chat page" });
    await holds('client.state === "connected"');
    expect(await page.evaluate("client.carrier")).toBe("websocket");
    await page.evaluate('client.send(0, "from the page")');
    await native.line("page: from the page");
    native.say("from the native one");
    await holds(heard("native: from the native one"));
    await native.stop();
  });

  test("statistics and the server's time are there", async () => {
    await holds("client.statistics()?.rtt.isMeasured === 1 && client.serverTime()");
    const statistics = (await page.evaluate("client.statistics()")) as Record<string, never>;
    expect(statistics).toMatchObject({
      carrier: "websocket",
      packetsLost: 0,
      page: { oversized: 0, unsent: 0 },
    });
    expect(await page.evaluate("client.serverTime().error < 1000 && client.serverTime().at > 0")).toBe(true);
    expect(await page.evaluate("client.settings.channels.length")).toBe(2);
  });

  test("an invalid call is an error with its reason", async () => {
    const reason = (call: string): Promise<unknown> =>
      page.evaluate(`(() => { try { ${call}; return "accepted" } catch (error) { return error.reason } })()`);
    expect(await reason('client.send(77, "x")')).toBe("noSuchChannel");
    expect(await reason('client.send(0.5, "x")')).toBe("noSuchChannel");
    expect(await reason("client.send(0, new Uint8Array(2000000))")).toBe("tooLong");
  });

  test("a reloaded page joins again", async () => {
    await page.reload();
    await begin({ token: "chat again" });
    await holds('client.state === "connected"');
    await page.evaluate('client.send(1, "who")');
    await holds('events.some((event) => event.channel === 1 && decode(event.payload).includes("again"))');
  });

  test("a client reconnects after the server was restarted", async () => {
    await server?.stop();
    await holds('events.some((event) => event.type === "closed" && event.retryIn > 0)');
    server = await serve(port ?? 0);
    await holds('events.filter((event) => event.type === "connected").length === 2');
    await page.evaluate('client.send(0, "back again")');
    await holds(heard("again: back again"));
  });

  test("a kicked or closed client ends with one last event", async () => {
    await page.evaluate('client.close({ code: 7, reason: "enough" })');
    await holds('client.state === "closed"');
    const last = (await page.evaluate("events.at(-1)")) as object;
    expect(last).toEqual({ type: "closed", close: { by: "local", code: 7, reason: "enough" } });
    await page.screenshot(`blank-${name}`);
    expect(page.errors.filter((error) => !error.includes("WebSocket"))).toEqual([]);
  });
});
