// The carrier of a connection: a WebSocket or a WebTransport session, from the driver's side.

import type { CarrierCounters, CarrierKind } from "../statistics";

/** An open carrier of one connection. */
export interface Carrier {
  readonly kind: CarrierKind;
  /** Current maximum bytes of a datagram of the session; 0 on a stream. */
  readonly packetBytesMax: number;
  /** Whether lost datagrams still arrive, late and out of order. */
  readonly isRepaired: boolean;
  /** Whether it accepts datagrams now; `onWritable` is called when it does again. */
  readonly isWritable: boolean;
  readonly counters: CarrierCounters;
  /** Takes a view that is good during the call only. */
  send(datagram: Uint8Array<ArrayBuffer>): void;
  /** Datagrams sent from now on leave at once or never: the session is closed after them. */
  leave(): void;
  close(): void;
  /** Set by the owner of the carrier; until then received datagrams are kept. */
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
  /** Gives it up; a carrier that has opened in the meantime is closed. */
  cancel(): void;
}

/** The carriers of the browser; tests provide others. */
export interface Sockets {
  WebSocket?: typeof WebSocket | undefined;
  WebTransport?: typeof WebTransport | undefined;
}
