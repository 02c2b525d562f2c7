// A page that computes while the worker has to handle events.

import type { Page } from "./browsers";

/** A message is sent, and then the page computes for two seconds: the acknowledgement arrives meanwhile. */
export async function sendAndCompute(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    client.send(0, "meanwhile");
    client.flush();
    const end = performance.now() + 2000;
    while (performance.now() < end);
  })()`);
}

/**
 * The round-trip time as far as it or its variation has grown, in ms: where the page would have had to handle that
 * acknowledgement, one of two seconds brings the variation to 500.
 */
export async function roundTrip(page: Page): Promise<number> {
  // Figures are published ten times a second.
  await new Promise((resolve) => setTimeout(resolve, 250));
  return (await page.evaluate(
    "Math.max(client.statistics().rtt.smoothed, client.statistics().rtt.variation)",
  )) as number;
}
