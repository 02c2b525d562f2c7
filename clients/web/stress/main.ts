// Clients of a stress run in a page: `skipstone stress --mix browser=…,wt=…` opens it in headless browsers, which get
// their commands from the tool and report the results. The tool judges; the page checks and counts lines as they
// arrive.

import type { Client } from "../src/client";
import type { ClosedBy } from "../src/close";
import { connect } from "../src/connect";
import type { Counters } from "../src/statistics";
import { Lines } from "./line";

/** The commands of the tool, as in crates/skipstone-cli/src/stress/pages/order.rs. */
type Order =
  | { order: "connect"; url: string; numbers: number[] }
  | {
      order: "start";
      /** When the run begins, in ms since 1970. */
      epochMs: number;
      intervalMs: number;
      untilMs: number;
      /** Clients of the whole run: their lines are spread over the interval. */
      clients: number;
      run: number;
      bytes: number | null;
    }
  | { order: "close" };

/** The events since the last report, as crates/skipstone-cli/src/stress/pages/report.rs reads them. */
interface Report {
  /** Number, milliseconds. */
  connected: number[];
  closed: { number: number; code: number; by: ClosedBy; reason: string }[];
  /** Number, due, sent: in µs of the run. */
  sent: number[];
  /** Lines that were due and could not be sent. */
  refused: number;
  /** Number, client, sequence, due, received: in µs of the run. */
  lines: number[];
  corrupt: number[];
  foreign: number[];
  /** All lines of the run were sent. */
  isDone: boolean;
  counters: Counters[];
}

interface Guest {
  number: number;
  client: Client;
  began: number;
  isConnected: boolean;
  sequence: number;
  /** The round of its next line. */
  round: number;
}

const REPORT_MS = 50;
/** How often due lines are looked for. */
const TICK_MS = 4;
const LINES = 0;

const guests = new Map<number, Guest>();
let run: Extract<Order, { order: "start" }> | undefined;
let lines: Lines | undefined;
let report = fresh();

function fresh(): Report {
  return {
    connected: [],
    closed: [],
    sent: [],
    refused: 0,
    lines: [],
    corrupt: [],
    foreign: [],
    isDone: true,
    counters: [],
  };
}

const nowMs = (): number => performance.timeOrigin + performance.now();
const sinceUs = (epochMs: number): number => Math.max(0, Math.round((nowMs() - epochMs) * 1_000));

function open(number: number, url: string): void {
  const began = performance.now();
  const client = connect(url, { token: `stress ${number}`, reconnect: false, fallback: false });
  const guest: Guest = { number, client, began, isConnected: false, sequence: 0, round: 0 };
  guests.set(number, guest);
  client.onEvent = (event) => {
    switch (event.type) {
      case "connected":
        guest.isConnected = true;
        report.connected.push(number, performance.now() - began);
        return;
      case "message":
        onLine(number, event.channel, event.payload);
        return;
      case "closed": {
        const { by, code, reason } = event.close;
        guests.delete(number);
        report.closed.push({ number, code, by, reason });
        return;
      }
      default:
    }
  };
}

function onLine(number: number, channel: number, payload: Uint8Array): void {
  if (channel !== LINES || run === undefined || lines === undefined) {
    return;
  }
  const parsed = lines.parse(payload);
  switch (parsed.kind) {
    case "line":
      report.lines.push(number, parsed.client, parsed.sequence, parsed.scheduledUs, sinceUs(run.epochMs));
      return;
    case "corrupt":
      report.corrupt.push(number);
      return;
    case "foreign":
      report.foreign.push(number);
  }
}

/** Sends due lines. True if more will follow. */
function sendDue(): boolean {
  if (run === undefined || lines === undefined) {
    return false;
  }
  let isMore = false;
  const now = nowMs() - run.epochMs;
  for (const guest of guests.values()) {
    if (!guest.isConnected) {
      continue;
    }
    for (;;) {
      const due = run.intervalMs * (guest.round + guest.number / run.clients);
      if (due >= run.untilMs || due > now) {
        isMore ||= due < run.untilMs;
        break;
      }
      guest.round += 1;
      sendLine(guest, lines, Math.floor(due * 1_000), run.epochMs);
    }
  }
  return isMore;
}

function sendLine(guest: Guest, of: Lines, dueUs: number, epochMs: number): void {
  try {
    guest.client.send(LINES, of.write(guest.number, guest.sequence, dueUs));
    guest.client.flush();
    guest.sequence += 1;
    report.sent.push(guest.number, dueUs, sinceUs(epochMs));
  } catch {
    report.refused += 1;
  }
}

function handle(order: Order): void {
  switch (order.order) {
    case "connect":
      order.numbers.forEach((number) => open(number, order.url));
      return;
    case "start":
      run = order;
      lines = new Lines(order.run, order.bytes ?? undefined);
      guests.forEach((guest) => Object.assign(guest, { sequence: 0, round: 0 }));
      return;
    case "close":
      guests.forEach(({ client }) => client.close({ reason: "the stress run is over" }));
  }
}

/** Reports the events, and gets the next commands. */
async function tell(): Promise<void> {
  const isMore = sendDue();
  const told = report;
  report = fresh();
  told.isDone = !isMore;
  told.counters = [...guests.values()].flatMap(({ client }) => client.statistics() ?? []);
  const response = await fetch("report" + location.search, { method: "POST", body: JSON.stringify(told) });
  if (!response.ok) {
    throw new Error(`the tool says ${response.status}`);
  }
  ((await response.json()) as Order[]).forEach(handle);
}

async function serve(): Promise<void> {
  for (;;) {
    const next = new Promise((resolve) => setTimeout(resolve, REPORT_MS));
    await tell();
    await next;
  }
}

setInterval(sendDue, TICK_MS);
serve().catch((error: unknown) => {
  document.title = `over: ${String(error)}`;
});
