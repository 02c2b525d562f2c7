// What the page and the worker tell each other. Each client of the page has a number.

import type { Close } from "../close";
import type { DriverOptions } from "../options";
import type { ServerSettings } from "../settings";
import type { CarrierCounters, CarrierKind } from "../statistics";
import type { Batch } from "./batch";

/** To the worker. */
export type Order =
  | { order: "open"; client: number; module: WebAssembly.Module; options: DriverOptions }
  /** The token for the attempt that asked for it, and hashes of certificates beside those of the options. */
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
  /** The application has taken events of so many bytes. */
  | { order: "credit"; client: number; bytes: number }
  | { order: "close"; client: number; code: number; reason: string; linger: number }
  /** The page goes away, and may come back as it was. */
  | { order: "leave"; mayReturn: boolean };

/** Numbers of a message in an order to send, and of an event in the news. */
export const SEND_NUMBERS = 4;
export const EVENT_NUMBERS = 5;

/** From the worker: what happened to a client in one turn. */
export interface News {
  client: number;
  /** The attempt that needs a token. */
  attempt?: number;
  /** Events: kind, three numbers of it, length of its bytes. */
  events?: Batch | undefined;
  /** What does not fit into numbers: of each event that needs it, in their order. */
  details?: Detail[];
  /** Bytes of sent messages that the worker has taken since the last news. */
  taken?: number;
  /** Channels that refuse when they are full, as far as something changed there. */
  gates?: GateNews[];
  statistics?: StatisticsNews;
  /** The client is over: nothing more comes. */
  isOver?: boolean;
}

export type Detail =
  { settings: ServerSettings; carrier: CarrierKind } | { close: Close; retryIn: number | undefined };

/** A channel that refuses when it is full: what waits or is in flight, and what the worker has taken while the connection stands. */
export interface GateNews {
  channel: number;
  messages: number;
  bytes: number;
  takenMessages: number;
  takenBytes: number;
}

/** Figures of the moment `at`, in ms since the epoch of all threads. */
export interface StatisticsNews {
  at: number;
  names: string[];
  figures: number[];
  carrier: CarrierKind;
  page: CarrierCounters;
  /** The server's clock then and its greatest error, in µs. */
  serverTime: number[] | undefined;
}

/** What a message or an event counts for in a queue, beside its bytes. */
export const ITEM_BYTES = 64;
