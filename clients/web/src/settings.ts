// The server's settings, as it sends them when it accepts a client (WIRE.md section 5). Times are in milliseconds.

/** How messages of a channel are delivered. */
export type DeliveryMode =
  /** Sent once, delivered on arrival. */
  | "unreliable"
  /** Sent once, delivered only if newer than the newest delivered message. */
  | "unreliableSequenced"
  /** Each message once, in order. */
  | "reliableOrdered"
  /** Each message once, on arrival. */
  | "reliableUnordered"
  /** The newest is sent until it arrives; a message that a newer one replaces is given up. */
  | "reliableSequenced";

/**
 * The reaction if a channel's queue has no room for a message: it is refused, the oldest makes room, or the connection
 * ends.
 */
export type Overflow = "refuse" | "dropOldest" | "disconnect";

/** How messages are protected against loss in addition to retransmission. */
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
  /** Whether the sender gets an event for each message that arrived. */
  receipts: boolean;
  /** Maximum number of messages in each channel's queue. */
  queueMessagesMax: number;
  /** Maximum bytes in each channel's queue. */
  queueBytesMax: number;
  /** The mode of these channels; `undefined` for the default of all. */
  redundancy: RedundancyMode | undefined;
}

/** The settings of a connection. */
export interface ServerSettings {
  // catalogue: settings
  /** Time without a packet after which the peer is gone: the idle timeout. */
  idleTimeout: number;
  /**
   * Time without a packet after which a client sends a PING, or 5/6 of the idle timeout if that is shorter; a
   * server waits half as long again, or until half-way to the idle timeout if that is sooner.
   */
  keepalive: number;
  /**
   * Longest time for which an acknowledgement may be held back while losses are possible (WIRE.md section 4.1).
   */
  ackDelay: number;
  /**
   * Longest time for which an acknowledgement may be held back at all, also where nothing was lost (WIRE.md
   * section 4.1); `ack_delay` if that is longer. On a stream it is always 100 ms.
   */
  ackDelayMax: number;
  /** Maximum bytes of a message. */
  messageBytesMax: number;
  /**
   * Bytes of reliable messages that a receiver holds: the receive window, in which a message of
   * `message_bytes_max` must fit.
   */
  windowBytes: number;
  /** Maximum bytes of a datagram of UDP; streams have packets of their own size. */
  datagramBytesMax: number;
  /**
   * The channel by which the server moves its clients to other servers (WIRE.md section 8.2), which must be
   * reliable and ordered, and which applications cannot use; 65,536 for none.
   */
  movesChannel: number;
  // catalogue: end
  /** How long messages wait for others; 0 for no wait, `"flush"` until `flush` is called. */
  merging: number | "flush";
  redundancy: { mode: RedundancyMode; budgetPercent: number };
  channels: ChannelRule[];
}

/** The rule of a channel; `undefined` if the channel does not exist. */
export function ruleFor(settings: ServerSettings, channel: number): ChannelRule | undefined {
  return settings.channels.find((rule) => rule.first <= channel && channel <= rule.last);
}
