// The events of a client.

import type { Close } from "./close";
import type { ServerSettings } from "./settings";
import type { CarrierKind } from "./statistics";

/** The name of a message, as `send` returned it. */
export type MessageId = number;

/** Why an accepted message will not be sent (or not again). */
export type GivenUp =
  /** The queue was full, and the channel refuses new messages then. */
  | "queueFull"
  /** The queue was full, and the channel drops its oldest message then. */
  | "dropped"
  /** A newer message of a sequenced channel replaced it. */
  | "superseded"
  /** It was lost, and the channel does not retransmit. */
  | "lost"
  | "tooLong"
  /** The connection ended first. */
  | "closed"
  | "other";

/** Something that happened to a connection. */
export type ClientEvent =
  /** The connection is established: messages can be sent. */
  | { type: "connected"; settings: ServerSettings; carrier: CarrierKind }
  /**
   * A message arrived. `age` is its delay beyond the planned time in milliseconds, because it was lost at first;
   * usually 0.
   */
  | { type: "message"; channel: number; payload: Uint8Array<ArrayBuffer>; age: number }
  /** The server has received a message. Only on channels with receipts. */
  | { type: "acknowledged"; channel: number; id: MessageId }
  /** An accepted message will not be sent (or not again). */
  | { type: "givenUp"; channel: number; id: MessageId; why: GivenUp }
  /**
   * The server has moved this client to another one: everything from this event on is with that server, whose clock and
   * statistics are its own. No reliable message is lost, doubled or reordered.
   */
  | { type: "moved"; url: string; carrier: CarrierKind }
  /**
   * The connection ended, or an attempt failed. The next attempt is made in `retryIn` milliseconds; without it the
   * client has ended, and this is its last event.
   */
  | { type: "closed"; close: Close; retryIn?: number };
