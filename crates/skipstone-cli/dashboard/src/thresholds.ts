// The values from which a figure is shown as a warning, and as a problem. Docs: docs/guide/dashboard.md.

import type { ServerFacts } from "./types";

/** The style sheet has a colour and a sign for each. */
export type Level = "" | "busy" | "bad";

/** The first values that are busy and bad. */
export type Limits = readonly [busy: number, bad: number];

/** Milliseconds in which people feel a game's answer late, and in which they cannot play. */
export const RTT_MS: Limits = [150, 300];
/** Percent of the packets: what redundancy recovers unnoticed, and what players see. */
export const LOSS_PERCENT: Limits = [1, 5];

/** A tick that is not done when the next is due, and one for which the next was skipped. */
export function tickMs({ ticks_per_second }: ServerFacts): Limits | null {
  return ticks_per_second > 0 ? [1000 / ticks_per_second, 2000 / ticks_per_second] : null;
}

/** Percent of one core: the game loop and each shard can use one, if the machine has as many. */
export function cpuPercent({ shards, cores }: ServerFacts): Limits {
  const usable = 100 * Math.min(shards + 1, cores);
  return [0.7 * usable, 0.9 * usable];
}

/** Shares of the queue at whose end a client is disconnected. */
export function queuedBytes({ queue_bytes_max }: ServerFacts): Limits {
  return [0.25 * queue_bytes_max, 0.75 * queue_bytes_max];
}

export function levelOf(value: number | null, limits: Limits | null): Level {
  if (value === null || limits === null || value < limits[0]) return "";
  return value < limits[1] ? "busy" : "bad";
}

/** Colours an element by its value. */
export function mark(element: HTMLElement, value: number | null, limits: Limits | null): void {
  const level = levelOf(value, limits);
  if (element.dataset["level"] !== level) element.dataset["level"] = level;
}
