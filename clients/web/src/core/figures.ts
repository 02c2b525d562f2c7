// Lists of numbers of the core as settings and statistics. crates/skipstone-web/src/figures.rs writes them.

import type { ChannelRule, RedundancyMode, ServerSettings } from "../settings";
import type { Counters } from "../statistics";

const MODES = [
  "unreliable",
  "unreliableSequenced",
  "reliableOrdered",
  "reliableUnordered",
  "reliableSequenced",
] as const;
const OVERFLOWS = ["refuse", "dropOldest", "disconnect"] as const;
/** Numbers between the simple settings and the table, and of each of its rules. */
const OTHERS = 5;
const RULE = 12;

/** Milliseconds of microseconds. */
const ms = (micros: number | undefined): number => (micros ?? 0) / 1_000;

export function settingsOf(figures: readonly number[]): ServerSettings {
  let at = 0;
  const next = (): number => figures[at++] ?? 0;
  const numbers = {
    // catalogue: settings
    idleTimeout: ms(next()),
    keepalive: ms(next()),
    ackDelay: ms(next()),
    ackDelayMax: ms(next()),
    messageBytesMax: next(),
    windowBytes: next(),
    datagramBytesMax: next(),
    movesChannel: next(),
    // catalogue: end
  };
  const [merging = 0, budgetPercent = 0, mode = 0, first = 0, second = 0] = figures.slice(at);
  const channels: ChannelRule[] = [];
  for (at += OTHERS; at + RULE <= figures.length; at += RULE) {
    channels.push(ruleOf(figures.slice(at, at + RULE)));
  }
  return {
    ...numbers,
    merging: merging === Infinity ? "flush" : ms(merging),
    redundancy: { mode: modeOf(mode, first, second) ?? { kind: "off" }, budgetPercent },
    channels,
  };
}

function ruleOf(figures: readonly number[]): ChannelRule {
  const [first = 0, last = 0, mode = 0, priority = 0, weight = 0, overflow = 0] = figures;
  const [receipts = 0, queueMessagesMax = 0, queueBytesMax = 0, kind = -1, one = 0, two = 0] =
    figures.slice(6);
  return {
    first,
    last,
    mode: MODES[mode] ?? "unreliable",
    priority,
    weight,
    overflow: OVERFLOWS[overflow] ?? "refuse",
    receipts: receipts !== 0,
    queueMessagesMax,
    queueBytesMax,
    redundancy: modeOf(kind, one, two),
  };
}

function modeOf(kind: number, first: number, second: number): RedundancyMode | undefined {
  switch (kind) {
    case 0:
      return { kind: "off" };
    case 1:
      return { kind: "lean" };
    case 2:
      return { kind: "adaptive" };
    case 3:
      return { kind: "fixed", sources: first, repairs: second };
    case 4:
      return { kind: "repeat", bursts: first };
    default:
      return undefined;
  }
}

/** The counters by their names. Times become milliseconds. */
export function countersOf(names: readonly string[], figures: readonly number[]): Counters {
  const counters: Record<string, number | Record<string, number>> = {};
  names.forEach((name, at) => {
    const value = figures[at] ?? 0;
    const [group = "", member] = name.split(".");
    if (member === undefined) {
      counters[group] = value;
      return;
    }
    const members = (counters[group] ??= {}) as Record<string, number>;
    members[member] = group === "rtt" && member !== "isMeasured" ? value / 1_000 : value;
  });
  return counters as unknown as Counters;
}
