// What carries a connection's datagrams: a WebSocket or a WebTransport session, from the driver's side.

import type { CarrierCounters, CarrierKind } from "../statistics";

/** An open carrier of one connection. */
export interface Carrier {
  readonly kind: CarrierKind;
  /** Bytes of a datagram that the session takes at present; 0 on a stream. */
  readonly packetBytesMax: number;
  /** Whether what it loses comes all the same, late and out of order. */
  readonly isRepaired: boolean;
  /** Whether it takes datagrams now; `onWritable` says when it does again. */
  readonly isWritable: boolean;
  readonly counters: CarrierCounters;
  /** Takes a view that is good during the call only. */
  send(datagram: Uint8Array<ArrayBuffer>): void;
  /** What is sent from now on leaves at once or never: the session is closed behind it. */
  leave(): void;
  close(): void;
  /** Set by whoever drives the carrier; until then what comes is kept. */
  handlers: CarrierHandlers | undefined;
}

export interface CarrierHandlers {
  onDatagram(datagram: Uint8Array<ArrayBuffer>): void;
  onWritable(): void;
  onLost(reason: string): void;
}

/** A carrier that is being opened. */
export interface Opening {
  ready: Promise<Carrier>;
  /** Gives it up; one that opened meanwhile is closed. */
  cancel(): void;
}

/** What the browser offers; tests offer others. */
export interface Sockets {
  WebSocket?: typeof WebSocket | undefined;
  WebTransport?: typeof WebTransport | undefined;
}
