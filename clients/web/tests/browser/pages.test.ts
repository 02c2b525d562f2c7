// The pages of examples, driven as a player would: a chat with a native one, and the game of moving dots.

import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KINDS, type Browser } from "./browsers";
import { DOTS, Program, chat, freePort, serve, until } from "./programs";
import { serveSite, type Site } from "./site";

describe.each(KINDS)("the pages of examples in $name", (kind) => {
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

  test("chat: what a person types reaches a native player, and the answer is shown", async () => {
    const port = await freePort();
    const server = await serve(port);
    const native = await chat(`skip+plain://127.0.0.1:${port}`, "native");
    const page = await browser?.open(`${site?.url}/examples/dist/chat.html?server=ws://127.0.0.1:${port}`);
    if (page === undefined) {
      throw new Error("the browser runs");
    }
    await page.click("#join button");
    await until("the connection", () => page.shows("#state", "Connected by WebSocket."));
    await page.type('#say input[name="line"]', "hello from a page");
    await page.click("#say button");
    await native.line("Ann: hello from a page");
    native.say("hello from a terminal");
    await until("the answer", () => page.shows("#lines", "native: hello from a terminal"));
    await page.screenshot(`chat-${kind.name}`);
    await server.stop();
    await until("the notice", () => page.shows("#state", "Again in"));
    expect(
      page.errors.filter((error) => !error.includes("WebSocket") && !error.includes("can’t establish")),
    ).toEqual([]);
    await page.close();
    await native.stop();
  });

  test.skipIf(!existsSync(DOTS))("dots: a page and native players move, and the figures live", async () => {
    const port = await freePort();
    const server = new Program([`127.0.0.1:${port}`], DOTS);
    await server.line("pages");
    const page = await browser?.open(`${site?.url}/examples/dist/dots.html?server=ws://127.0.0.1:${port}`);
    if (page === undefined) {
      throw new Error("the browser runs");
    }
    await page.click("#join button");
    await until("four players", () => page.shows("#figures", "Players4"));
    await page.press("ArrowRight", 1_500);
    await until("a latency", () => page.shows("#figures", /Input to picture, median\d+\.\d ms/));
    await until("the server's clock", () => page.shows("#figures", /± \d+\.\d ms/));
    await page.screenshot(`dots-${kind.name}`);
    expect(page.errors).toEqual([]);
    await page.close();
    await server.stop();
  });
});
