// A page of a fresh project with the installed package, as vite has built it: SKIPSTONE_PAGE is its folder. It connects
// to the server whose URL is the fragment of its own, sends a line and shows what it receives.

import { describe, expect, onTestFinished, test } from "vitest";
import { KINDS } from "../browser/browsers";
import { freePort, serve, until } from "../browser/programs";
import { serveSite } from "../browser/site";

describe.each(KINDS)("$name", (kind) => {
  const missing = kind.missing;
  if (missing !== undefined) {
    test.skip(missing, () => undefined);
    return;
  }

  test("the installed package exchanges a message with a server", async () => {
    const server = await serve(await freePort());
    onTestFinished(() => server.stop());
    const site = await serveSite(undefined, process.env["SKIPSTONE_PAGE"]);
    onTestFinished(() => site.close());
    const browser = await kind.launch();
    onTestFinished(() => browser.close());
    const pages = await server.line("pages ");
    const url = pages.trim().split(/\s+/)[1] ?? "";
    const page = await browser.open(`${site.url}/index.html#${encodeURIComponent(url)}`);
    await until("the line", () => page.shows("#received", "page: hello"));
    expect(page.errors).toEqual([]);
    console.log(`${kind.name} by ${String(await page.evaluate("document.title"))}`);
  });
});
