// Counters and state of a connection, as the worker publishes them some ten times a second. Times are in milliseconds.

/** One direction. */
export interface Flow {
  // catalogue: flow
  /** Datagrams of any size. */
  datagrams: number;
  /** Messages of the application. */
  messages: number;
  /** Bytes of those messages, each counted once. */
  payloadBytes: number;
  /** Bytes of the datagrams: payload, and the overhead of the protocol. */
  datagramBytes: number;
  /** Bytes of the datagrams with IP and carrier headers. */
  ipBytes: number;
  // catalogue: end
}

/** Counters, which only grow while the connection lasts, and its present state. */
export interface Counters {
  sent: Flow;
  received: Flow;
  // catalogue: counters
  /** Packets declared lost. */
  packetsLost: number;
  /** Packets declared lost whose acknowledgement came later. */
  packetsSpurious: number;
  /** Messages and fragments retransmitted. */
  resent: number;
  /** Packets whose acknowledgement was overdue (probe timeout), so that their content was sent again. */
  probes: number;
  /**
   * Acknowledgements that the peer reports to have delayed for longer than the settings allow: its machine paused, an
   * earlier acknowledgement was lost, or it does not follow the settings.
   */
  acksOverdue: number;
  /** Times that the connection moved to a new address. */
  pathsChanged: number;
  /** New addresses that did not prove to be the peer's. */
  pathsRefused: number;
  /** Times that large datagrams were lost on the path, so that only small ones are sent (RFC 8899, section 3). */
  blackHoles: number;
  /** Messages refused or dropped by a full queue. */
  queueOverflows: number;
  // catalogue: end
  redundancy: {
    // catalogue: redundancy
    /** Repair packets sent. */
    repairsSent: number;
    /**
     * Copies of retransmissions, each in addition to the retransmission itself; and packets that repeat messages of
     * earlier ones.
     */
    copiesSent: number;
    /** Bytes of repairs and copies, IP headers included, and of messages repeated. */
    bytesSent: number;
    /** Packets of the peer that were lost and recovered here, each without waiting for a round trip. */
    packetsRecovered: number;
    /** Packets sent here that were lost and that the peer recovered. */
    packetsRecoveredByPeer: number;
    // catalogue: end
  };
  /** Messages that are queued or in flight, and messages that have arrived and wait for others. */
  depth: { messages: number; bytes: number; heldBytes: number };
  packetsDue: number;
  packetsReceived: number;
  bytesInFlight: number;
  /** Current maximum bytes of a datagram. */
  datagramBytes: number;
  /** The congestion window: maximum bytes in flight; infinite on a stream. */
  congestionWindow: number;
  /** Bytes of datagrams per second that may be sent, as far as the path is known; infinite on a stream. */
  availableBytesPerSecond: number;
  /** Share of this side's packets that the path loses, 0 to 1. */
  loss: number;
  rtt: { isMeasured: number; smoothed: number; variation: number; min: number; latest: number };
  /** Dropped datagrams, packets and messages, by reason. */
  drops: Record<string, number>;
}

/** Counters of the page's own carrier. */
export interface CarrierCounters {
  /** Datagrams that were longer than the session's maximum, and never left. */
  oversized: number;
  /** Datagrams for which the browser's queue had no room. */
  unsent: number;
}

/** One direction: rates over about a second, and loss. */
export interface Traffic {
  messagesPerSecond: number;
  payloadBytesPerSecond: number;
  ipBytesPerSecond: number;
  /**
   * Share of packets that the path lost, 0 to 1, over about the last thousand; of those to the peer, packets that were
   * sent together count as one. 0 on a stream.
   */
  loss: number;
}

/** A snapshot of a connection, up to 100 ms ago. */
export interface Statistics extends Counters {
  carrier: CarrierKind;
  page: CarrierCounters;
  sending: Traffic;
  receiving: Traffic;
}

/** The carrier of a connection. */
export type CarrierKind = "webtransport" | "websocket";

const NO_TRAFFIC: Traffic = { messagesPerSecond: 0, payloadBytesPerSecond: 0, ipBytesPerSecond: 0, loss: 0 };
/** Packets after which an observation of losses has lost two thirds of its weight. */
const LOSS_MEMORY_PACKETS = 1_000;

/** The averages of both directions, from one snapshot to the next. */
export class Averages {
  #last: { at: number; counters: Counters } | undefined;
  sending: Traffic = NO_TRAFFIC;
  receiving: Traffic = NO_TRAFFIC;

  /** Takes a snapshot at this time, in ms. */
  update(at: number, counters: Counters): void {
    const last = this.#last;
    this.#last = { at, counters };
    if (last === undefined || at <= last.at) {
      return;
    }
    const seconds = (at - last.at) / 1_000;
    this.sending = blend(this.sending, last.counters.sent, counters.sent, seconds, counters.loss);
    const due = counters.packetsDue - last.counters.packetsDue;
    const came = counters.packetsReceived - last.counters.packetsReceived;
    const lost = due > 0 ? Math.max(due - came, 0) / due : 0;
    const weight = 1 - Math.exp(-Math.max(due, 0) / LOSS_MEMORY_PACKETS);
    const loss = this.receiving.loss + (lost - this.receiving.loss) * weight;
    this.receiving = blend(this.receiving, last.counters.received, counters.received, seconds, loss);
  }
}

function blend(average: Traffic, then: Flow, now: Flow, seconds: number, loss: number): Traffic {
  const weight = 1 - Math.exp(-seconds);
  const mix = (old: number, before: number, after: number): number =>
    old + ((after - before) / seconds - old) * weight;
  return {
    messagesPerSecond: mix(average.messagesPerSecond, then.messages, now.messages),
    payloadBytesPerSecond: mix(average.payloadBytesPerSecond, then.payloadBytes, now.payloadBytes),
    ipBytesPerSecond: mix(average.ipBytesPerSecond, then.ipBytes, now.ipBytes),
    loss,
  };
}
