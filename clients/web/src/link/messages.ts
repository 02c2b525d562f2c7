// The messages between the page and the worker. Each client of the page has a number.

import type { Close } from "../close";
import type { DriverOptions } from "../options";
import type { ServerSettings } from "../settings";
import type { CarrierCounters, CarrierKind } from "../statistics";
import type { Batch } from "./batch";

/** To the worker. */
export type Order =
  | { order: "open"; client: number; module: WebAssembly.Module; options: DriverOptions }
  /** The token for the attempt that requested it, and hashes of certificates in addition to those of the options. */
  | {
      order: "token";
      client: number;
      attempt: number;
      token: Uint8Array;
      hashes: readonly Uint8Array<ArrayBuffer>[];
    }
  /** The application lacks one of them for that attempt. */
  | { order: "noToken"; client: number; attempt: number; reason: string }
  /** Messages: channel, id, age in µs, length. */
  | { order: "send"; client: number; batch: Batch }
  | { order: "flush"; client: number }
  /** The application has taken events with this number of bytes. */
  | { order: "credit"; client: number; bytes: number }
  | { order: "close"; client: number; code: number; reason: string; linger: number }
  /** The page is left, and may return unchanged. */
  | { order: "leave"; mayReturn: boolean };

/** Numbers of a message in an order to send, and of an event in the news. */
export const SEND_NUMBERS = 4;
export const EVENT_NUMBERS = 5;

/** From the worker: the events of a client in one turn. */
export interface News {
  client: number;
  /** The attempt that needs a token. */
  attempt?: number;
  /** Events: kind, three numbers of it, length of its bytes. */
  events?: Batch | undefined;
  /** What does not fit into numbers, in the order of the events that need it. */
  details?: Detail[];
  /** Bytes of sent messages that the worker has taken since the last update. */
  taken?: number;
  /** Channels that refuse when they are full, as far as something changed there. */
  gates?: GateNews[];
  statistics?: StatisticsNews;
  /** The client has ended: nothing follows. */
  isOver?: boolean;
}

export type Detail =
  | { settings: ServerSettings; carrier: CarrierKind; /** The server's URL, after a move. */ moved?: string }
  | { close: Close; retryIn: number | undefined };

/**
 * A channel that refuses when it is full: what is queued or in flight, and what the worker has taken since the
 * connection was established.
 */
export interface GateNews {
  channel: number;
  messages: number;
  bytes: number;
  takenMessages: number;
  takenBytes: number;
}

/** Figures of the time `at`, in ms since the epoch, which all threads share. */
export interface StatisticsNews {
  at: number;
  names: string[];
  figures: number[];
  carrier: CarrierKind;
  page: CarrierCounters;
  /** The server's clock then and its greatest error, in µs. */
  serverTime: number[] | undefined;
}

/** The cost of a message or an event in a queue, in addition to its bytes. */
export const ITEM_BYTES = 64;
