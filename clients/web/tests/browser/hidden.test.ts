// A hidden tab: timers of the page run once a second, and the connection continues normally. Chromium only: the test's
// Firefox hides no tab.

import { expect, test } from "vitest";
import { KINDS, launchTabs } from "./browsers";
import { freePort, serve, until } from "./programs";
import { serveSite } from "./site";

/** The page while it is hidden: it answers each echo with the next line, and counts its timers. */
const PING_PONG = `(async () => {
  const spans = [];
  let timers = 0;
  let sentAt = performance.now();
  const timer = setInterval(() => (timers += 1), 16);
  client.onEvent = (event) => {
    if (event.type === "message") {
      spans.push(performance.now() - sentAt);
      sentAt = performance.now();
      client.send(0, "and again");
    }
  };
  client.send(0, "first");
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  clearInterval(timer);
  client.onEvent = undefined;
  return { timers, spans: spans.sort((a, b) => a - b), visibility: document.visibilityState };
})()`;

const chromium = KINDS.find((kind) => kind.name === "chromium");

test.skipIf(chromium?.missing !== undefined)("a hidden tab goes on as before", async () => {
  const port = await freePort();
  const [site, server, tabs] = await Promise.all([
    serveSite(),
    serve(port, "--workload", "echo"),
    launchTabs(),
  ]);
  const tab = await tabs.open(`${site.url}/tests/browser/blank.html`);
  await until("the module", () => tab.evaluate("window.isReady"));
  await tab.evaluate(`begin("ws://127.0.0.1:${port}", { token: "chat page" })`);
  await until(
    "the connection",
    async () => (await tab.evaluate('client.state === "connected"')) === true || undefined,
  );
  await tabs.cover();
  await until("the hiding", async () => (await tab.evaluate("document.hidden")) === true || undefined);
  const { timers, spans } = (await tab.evaluate(PING_PONG)) as { timers: number; spans: number[] };
  // A visible page has 300.
  expect(timers).toBeLessThan(20);
  // The server answers at its next tick, 60 times a second.
  expect(spans.length).toBeGreaterThan(100);
  expect(spans[Math.floor(spans.length / 2)]).toBeLessThan(50);
  await tabs.close();
  await server.stop();
  await site.close();
});
