// A page over real WebTransport datagrams, and over the WebSocket where no session is possible. Skipped where the
// server of this build has no WebTransport, or where there is no openssl to make a certificate that browsers take by
// its hash.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KINDS, type Browser, type Page } from "./browsers";
import { certificate } from "./certificate";
import { chat, freePort, serve, until, type Program } from "./programs";
import { roundTrip, sendAndCompute } from "./busy";
import { serveSite, type Site } from "./site";

describe.each(KINDS)("$name by WebTransport", (kind) => {
  if (kind.missing !== undefined) {
    test.skip(kind.missing, () => undefined);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "skipstone-"));
  let [site, browser, server, port, hash]: [Site?, Browser?, Program?, number?, string?] = [];
  /** Why there is nothing to test. */
  let missing: string | undefined;

  beforeAll(async () => {
    hash = certificate(folder);
    if (hash === undefined) {
      missing = "there is no openssl";
      return;
    }
    port = await freePort();
    server = await serve(port, "--cert", join(folder, "cert.pem"), "--key", join(folder, "key.pem"));
    await server.line("stop with");
    expect(
      server.lines.some((line) => line.includes("https://")),
      "the server has WebTransport",
    ).toBe(true);
    [site, browser] = await Promise.all([serveSite(), kind.launch()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await site?.close();
    rmSync(folder, { recursive: true });
  });

  const begin = async (url: string, options: object): Promise<Page> => {
    const page = await browser?.open(`${site?.url}/tests/browser/blank.html`);
    if (page === undefined) {
      throw new Error("the browser runs");
    }
    await until("the module", () => page.evaluate("window.isReady"));
    await page.evaluate(`begin(${JSON.stringify(url)}, ${JSON.stringify(options)})`);
    return page;
  };
  const holds = (page: Page, expression: string): Promise<unknown> =>
    until(expression, async () =>
      (await page.evaluate(`Boolean(${expression})`)) === true ? true : undefined,
    );
  const received = 'events.filter((event) => event.type === "message").length';

  test("lines go both ways in datagrams, each once and in order, and a close arrives", async (context) => {
    context.skip(missing !== undefined, missing);
    const native = await chat(`skip+plain://127.0.0.1:${port}`, "native");
    const options = { token: "chat page", fallback: false };
    const page = await begin(`https://127.0.0.1:${port}#sha256=${hash}`, options);
    await holds(page, 'client.state === "connected"');
    expect(await page.evaluate("client.carrier")).toBe("webtransport");
    await page.evaluate('for (let line = 0; line < 200; line += 1) client.send(0, "line " + line)');
    await holds(page, `${received} === 200`);
    const texts = await page.evaluate(
      'events.filter((event) => event.type === "message").map((it) => decode(it.payload))',
    );
    expect(texts).toEqual(Array.from({ length: 200 }, (_, line) => `page: line ${line}`));
    await native.line("page: line 199");
    native.say("from the native one");
    await holds(page, 'decode(events.at(-1).payload ?? new Uint8Array()) === "native: from the native one"');
    // Firefox's go on streams, whose frames are longer.
    const least = kind.name === "firefox" ? 1_008 : 1_024;
    expect(await page.evaluate("client.statistics().datagramBytes")).toBeGreaterThanOrEqual(least);
    expect(await page.evaluate("client.statistics().page")).toEqual({ oversized: 0, unsent: 0 });
    await page.evaluate('client.close({ code: 5, reason: "enough", linger: 1000 })');
    await holds(page, 'client.state === "closed"');
    native.say("/who");
    await until("the list without the page", () =>
      native.lines.find((line) => line.endsWith("here: native")),
    );
    await native.stop();
    await page.close();
  });

  test("a page that is busy for two seconds still acknowledges", async (context) => {
    context.skip(missing !== undefined, missing);
    const page = await begin(`https://127.0.0.1:${port}#sha256=${hash}`, {
      token: "chat page",
      fallback: false,
    });
    await holds(page, "client.statistics()?.rtt.isMeasured");
    await sendAndCompute(page);
    await holds(page, `${received} === 1`);
    expect(await roundTrip(page)).toBeLessThan(200);
    await page.close();
  });

  test("a message of a megabyte comes back complete", async (context) => {
    context.skip(missing !== undefined, missing);
    const page = await begin(`https://127.0.0.1:${port}#sha256=${hash}`, {
      token: "chat page",
      fallback: false,
    });
    await holds(page, 'client.state === "connected"');
    await page.evaluate('window.long = "x".repeat(1000000); client.send(0, long)');
    await holds(page, `${received} === 1`);
    expect(
      await page.evaluate(
        'decode(events.find((event) => event.type === "message").payload) === "page: " + long',
      ),
    ).toBe(true);
    await page.close();
  });

  test("where the session is refused, the WebSocket carries the page", async (context) => {
    context.skip(missing !== undefined, missing);
    const wrong = `https://127.0.0.1:${port}#sha256=${"0".repeat(64)}`;
    const page = await begin(wrong, { token: "chat page", fallback: `ws://127.0.0.1:${port}` });
    await holds(page, 'client.state === "connected"');
    expect(await page.evaluate("client.carrier")).toBe("websocket");
    await page.close();
  });

  test("a session is replaced after the server was restarted", async (context) => {
    context.skip(missing !== undefined, missing);
    const page = await begin(`https://127.0.0.1:${port}#sha256=${hash}`, {
      token: "chat page",
      fallback: false,
    });
    await holds(page, 'client.state === "connected"');
    await server?.stop();
    await holds(page, 'events.some((event) => event.type === "closed" && event.retryIn > 0)');
    server = await serve(port ?? 0, "--cert", join(folder, "cert.pem"), "--key", join(folder, "key.pem"));
    await holds(page, 'events.filter((event) => event.type === "connected").length === 2');
    await page.evaluate('client.send(0, "back again")');
    await holds(
      page,
      'events.some((event) => event.type === "message" && decode(event.payload) === "page: back again")',
    );
    await page.close();
  });
});
