// What the server has decided, as it says when it lets a client in (WIRE.md section 5). Times are in milliseconds.

/** How messages of a channel are delivered. */
export type DeliveryMode =
  /** Sent once, delivered as it comes. */
  | "unreliable"
  /** Sent once, delivered only if newer than the newest delivered. */
  | "unreliableSequenced"
  /** Each once, in order. */
  | "reliableOrdered"
  /** Each once, as it comes. */
  | "reliableUnordered"
  /** The newest is sent until it arrives; a message that a newer one replaces is given up. */
  | "reliableSequenced";

/** What happens to a message for which a channel's queue has no room: it is refused, the oldest makes room, or the connection ends. */
export type Overflow = "refuse" | "dropOldest" | "disconnect";

/** How messages are protected against loss besides retransmission. */
export type RedundancyMode =
  | { kind: "off" | "lean" | "adaptive" }
  | { kind: "fixed"; sources: number; repairs: number }
  | { kind: "repeat"; bursts: number };

/** One rule of the channel table; the first that holds a channel rules it. */
export interface ChannelRule {
  /** The first channel that it holds. */
  first: number;
  /** The last one. */
  last: number;
  mode: DeliveryMode;
  /** 0 is the most urgent. */
  priority: number;
  /** The share among channels of one priority. */
  weight: number;
  overflow: Overflow;
  /** Whether the sender hears of each message that arrived. */
  receipts: boolean;
  /** Messages that wait in each channel's queue, at most. */
  queueMessagesMax: number;
  /** Bytes that wait in each channel's queue, at most. */
  queueBytesMax: number;
  /** Of these channels; `undefined` for that of all. */
  redundancy: RedundancyMode | undefined;
}

/** The settings of a connection. */
export interface ServerSettings {
  // catalogue: settings
  /** Idle timeout: a peer from which no packet arrives for this long is gone. */
  idleTimeout: number;
  /**
   * Keepalive: a client that received nothing for this long, or for 5/6 of the idle timeout if that is sooner,
   * sends a PING; a server waits half as long again, or until half-way to the idle timeout if that is sooner.
   */
  keepalive: number;
  /**
   * Impatient acknowledgement delay: the longest time for which an acknowledgement may be held back while
   * losses are possible (WIRE.md section 4.1).
   */
  ackDelay: number;
  /**
   * Greatest acknowledgement delay: the longest time for which an acknowledgement may be held back at all, also
   * where nothing was lost (WIRE.md section 4.1); `ack_delay` where that is longer. On a stream it is 100 ms,
   * whatever both are.
   */
  ackDelayMax: number;
  /** Maximum bytes of a message. */
  messageBytesMax: number;
  /**
   * Receive window: bytes of reliable messages that a receiver holds, at least what a message of
   * `message_bytes_max` takes.
   */
  windowBytes: number;
  /** Maximum bytes of a datagram of UDP. Streams have packets of their own size. */
  datagramBytesMax: number;
  // catalogue: end
  /** Messages wait so long for others; 0 for not at all, `"flush"` until `flush` is called. */
  merging: number | "flush";
  redundancy: { mode: RedundancyMode; budgetPercent: number };
  channels: ChannelRule[];
}

/** The rule of a channel; `undefined` if the channel does not exist. */
export function ruleFor(settings: ServerSettings, channel: number): ChannelRule | undefined {
  return settings.channels.find((rule) => rule.first <= channel && channel <= rule.last);
}
