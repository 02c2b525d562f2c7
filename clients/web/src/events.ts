// What a client hears of its connection.

import type { Close } from "./close";
import type { ServerSettings } from "./settings";
import type { CarrierKind } from "./statistics";

/** The name of a message, as `send` returned it. */
export type MessageId = number;

/** Why a message that was accepted will not be sent (again). */
export type GivenUp =
  /** The queue was full, and the channel refuses then. */
  | "queueFull"
  /** The queue was full, and the channel drops its oldest message then. */
  | "dropped"
  /** A newer message of a sequenced channel took its place. */
  | "superseded"
  /** It was lost, and the channel does not retransmit. */
  | "lost"
  | "tooLong"
  /** The connection ended first. */
  | "closed"
  | "other";

/** Something that happened to a connection. */
export type ClientEvent =
  /** The connection stands: messages can be sent. */
  | { type: "connected"; settings: ServerSettings; carrier: CarrierKind }
  /** A message came. `age` is how many milliseconds later than planned, because it was lost before; usually 0. */
  | { type: "message"; channel: number; payload: Uint8Array<ArrayBuffer>; age: number }
  /** The server has received a message. Only on channels with receipts. */
  | { type: "acknowledged"; channel: number; id: MessageId }
  /** A message that was accepted will not be sent (again). */
  | { type: "givenUp"; channel: number; id: MessageId; why: GivenUp }
  /**
   * The connection ended, or an attempt failed. The next attempt is made in `retryIn` milliseconds; without it the client is over,
   * and this is its last event.
   */
  | { type: "closed"; close: Close; retryIn?: number };
