// A WebTransport session as a carrier: each datagram of the protocol is a datagram of the session, or is sent on a
// stream of it (WIRE.md section 7.2).

import { reasonOf } from "../errors";
import type { Carrier, CarrierHandlers, Opening } from "./carrier";
import type { Clock } from "./clock";
import { Queue } from "../link/queue";
import { Inbox } from "./inbox";
import { DatagramStreams, RECORD_BYTES_MAX, STREAM_BYTES } from "./streams";

/**
 * Browsers queue one datagram by default and silently drop the next ones. This number survives a page that is busy for
 * a moment.
 */
const INCOMING_MAX = 1_000;
const OUTGOING_MAX = 100;
/** Datagrams that are given to the browser at once: Firefox loses some of longer bursts. */
const BURST_MAX = 10;

/**
 * Firefox's QUIC drops a datagram that does not fit into the rest of its congestion window, and sends smaller ones
 * after it: under loss all full datagrams of some tenths of a second vanish, while short ones pass. Data on a stream
 * waits, and fills the window.
 */
function dropsWhatDoesNotFit(): boolean {
  // The type says that it always exists; outside of browsers it does not.
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  return navigator?.userAgent?.includes("Firefox/") ?? false;
}

/** Members of the specification that the type library does not have yet, or names differently. */
interface Datagrams extends WebTransportDatagramDuplexStream {
  createWritable?(): WritableStream<Uint8Array>;
}

/** Opens a session. */
export function openWebTransport(
  url: string,
  options: WebTransportOptions,
  Session: typeof WebTransport,
  clock: Clock,
): Opening {
  let session: WebTransport | undefined;
  const open = async (): Promise<Carrier> => {
    session = new Session(url, { requireUnreliable: true, allowPooling: false, ...options });
    // The code that waits for `ready` gets a failure there.
    session.closed.catch(() => undefined);
    await session.ready;
    const drops = dropsWhatDoesNotFit();
    return new WebTransportCarrier(
      session,
      drops ? await DatagramStreams.open(session, clock) : undefined,
      drops,
    );
  };
  return { ready: open(), cancel: () => closeSession(session) };
}

function closeSession(session: WebTransport | undefined): void {
  try {
    session?.close();
  } catch {
    // One that was never open cannot be closed, and is not there either.
  }
}

class WebTransportCarrier implements Carrier {
  readonly kind = "webtransport";
  readonly counters = { oversized: 0, unsent: 0 };
  readonly #session: WebTransport;
  readonly #datagrams: Datagrams;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #inbox = new Inbox();
  readonly #streams: DatagramStreams | undefined;
  /** Without streams, halves fit more often into the rest of a window. */
  readonly #isHalved: boolean;
  #isLeaving = false;
  /** Datagrams that the browser has queued and not yet sent. */
  #pending = 0;
  /**
   * The rest of a flight that was longer than a burst. The core gives no other before it is told that there is room.
   */
  readonly #waiting = new Queue<Uint8Array>();

  constructor(session: WebTransport, streams: DatagramStreams | undefined, drops: boolean) {
    this.#session = session;
    this.#streams = streams;
    this.#isHalved = drops && streams === undefined;
    this.#datagrams = session.datagrams;
    this.#datagrams.incomingHighWaterMark = INCOMING_MAX;
    this.#datagrams.outgoingHighWaterMark = OUTGOING_MAX;
    const writable = this.#datagrams.createWritable?.() ?? this.#datagrams.writable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => undefined);
    void this.#read();
    streams?.onFailure((reason) => this.#inbox.lose(reason));
    session.closed.then(
      (info) =>
        this.#inbox.lose(`the session was closed: ${info.closeCode ?? 0} ${info.reason ?? ""}`.trim()),
      (error: unknown) => this.#inbox.lose(`the session was lost: ${reasonOf(error)}`),
    );
  }

  get handlers(): CarrierHandlers | undefined {
    return this.#inbox.handlers;
  }

  set handlers(handlers: CarrierHandlers | undefined) {
    this.#inbox.handlers = handlers;
  }

  /** It changes while the session lasts. */
  get packetBytesMax(): number {
    const max = this.#datagrams.maxDatagramSize;
    if (this.#streams !== undefined) {
      return Math.max(0, max - STREAM_BYTES);
    }
    return this.#isHalved ? Math.ceil(max / 2) : max;
  }

  get isRepaired(): boolean {
    return this.#streams !== undefined;
  }

  get isWritable(): boolean {
    return this.#pending < BURST_MAX && this.#waiting.length === 0;
  }

  send(datagram: Uint8Array<ArrayBuffer>): void {
    const max = this.#streams === undefined ? this.#datagrams.maxDatagramSize : RECORD_BYTES_MAX;
    if (datagram.length > max) {
      this.counters.oversized += 1;
      return;
    }
    // The view is good during this call only, and the browser may read it later.
    const copy = datagram.slice();
    if (this.#pending < BURST_MAX) {
      this.#write(copy);
    } else {
      this.#waiting.push(copy);
    }
  }

  #write(datagram: Uint8Array): void {
    this.#pending += 1;
    const streams = this.#isLeaving ? undefined : this.#streams;
    (streams ?? this.#writer).write(datagram).then(
      () => this.#onTaken(),
      () => {
        this.counters.unsent += 1;
        this.#onTaken();
      },
    );
  }

  /** Data queued on a stream is reset with the session. */
  leave(): void {
    this.#isLeaving = true;
  }

  close(): void {
    this.#inbox.handlers = undefined;
    closeSession(this.#session);
  }

  #onTaken(): void {
    this.#pending -= 1;
    const next = this.#waiting.shift();
    if (next !== undefined) {
      this.#write(next);
    } else if (this.#pending === 0) {
      this.#inbox.handlers?.onWritable();
    }
  }

  async #read(): Promise<void> {
    const reader = (this.#datagrams.readable as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          return;
        }
        this.#inbox.receive(value);
      }
    } catch {
      // The end of the session has the reason.
    }
  }
}
