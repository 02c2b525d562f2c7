// Players on every carrier in one chat: native, DTLS and raw TCP programs, and pages over ws, wss and WebTransport.
// Each receives the messages of each other; when the server is restarted, pages reconnect by themselves.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KINDS, type Browser, type Page } from "./browsers";
import { certificate } from "./certificate";
import { chat, freePort, serve, until, type Program } from "./programs";
import { serveSite, type Site } from "./site";

describe.each(KINDS)("$name among all carriers", (kind) => {
  if (kind.missing !== undefined) {
    test.skip(kind.missing, () => undefined);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "skipstone-"));
  let [site, browser, server, port, hash]: [Site?, Browser?, Program?, number?, string?] = [];
  let pages: { name: string; page: Page }[] = [];
  let programs: { name: string; program: Program }[] = [];

  const start = async (): Promise<Program> => {
    const begun = await serve(
      port ?? 0,
      "--cert",
      join(folder, "cert.pem"),
      "--key",
      join(folder, "key.pem"),
    );
    await begun.line("stop with");
    return begun;
  };
  const schemes = { plain: "skip+plain", native: "skip", dtls: "skip+dtls", tcp: "tcp" };
  const joinAll = async (): Promise<void> => {
    programs = [];
    for (const [name, scheme] of Object.entries(schemes)) {
      const pin = name === "native" || name === "dtls" ? `#sha256=${hash}` : "";
      const program = await chat(`${scheme}://127.0.0.1:${port}${pin}`, name);
      programs.push({ name, program });
    }
  };

  beforeAll(async () => {
    hash = certificate(folder);
    port = await freePort();
    [server, site, browser] = await Promise.all([start(), serveSite(), kind.launch("all")]);
  });
  afterAll(async () => {
    await Promise.all(programs.map(({ program }) => program.stop()));
    await browser?.close();
    await server?.stop();
    await site?.close();
    rmSync(folder, { recursive: true });
  });

  const holds = (page: Page, expression: string): Promise<unknown> =>
    until(expression, async () =>
      (await page.evaluate(`Boolean(${expression})`)) === true ? true : undefined,
    );
  const enter = async (name: string, url: string): Promise<void> => {
    const page = await browser?.open(`${site?.url}/tests/browser/blank.html`);
    if (page === undefined) {
      throw new Error("the browser runs");
    }
    await until("the module", () => page.evaluate("window.isReady"));
    const options = { token: `chat ${name}`, fallback: false };
    await page.evaluate(`begin(${JSON.stringify(url)}, ${JSON.stringify(options)})`);
    await holds(page, 'client.state === "connected"');
    pages.push({ name, page });
  };

  /** Each player sends a line, and every player receives it, including the sender. */
  const everybodyHears = async (word: string): Promise<void> => {
    for (const { name, page } of pages) {
      await page.evaluate(`client.send(0, ${JSON.stringify(`${word} of ${name}`)})`);
    }
    programs.forEach(({ name, program }) => program.say(`${word} of ${name}`));
    const names = [...pages, ...programs].map(({ name }) => name);
    for (const speaker of names) {
      const line = `${speaker}: ${word} of ${speaker}`;
      for (const { page } of pages) {
        const hears = `events.filter((it) => it.type === "message" && decode(it.payload) === ${JSON.stringify(line)}).length`;
        await holds(page, `${hears} === 1`);
      }
      for (const { program } of programs) {
        await program.line(line);
      }
    }
  };

  test("each receives all others, and all reconnect to a restarted server", async (context) => {
    context.skip(hash === undefined, "there is no openssl");
    await joinAll();
    await enter("ws", `ws://127.0.0.1:${port}`);
    await enter("wss", `wss://127.0.0.1:${port}`);
    await enter("webtransport", `https://127.0.0.1:${port}#sha256=${hash}`);
    await everybodyHears("first word");

    await server?.stop();
    await Promise.all(programs.map(({ program }) => program.stop()));
    for (const { page } of pages) {
      await holds(page, 'events.some((event) => event.type === "closed" && event.retryIn > 0)');
    }
    server = await start();
    for (const { page } of pages) {
      await holds(page, 'events.filter((event) => event.type === "connected").length === 2');
    }
    await joinAll();
    await everybodyHears("second word");
    for (const { name, page } of pages) {
      expect(await page.evaluate("client.carrier"), name).toBe(name === "webtransport" ? name : "websocket");
      await page.close();
    }
    pages = [];
  });
});
