// Datagrams on unidirectional streams of a session, each length-prefixed (WIRE.md section 7.2).

import { reasonOf } from "../errors";
import type { Clock, Timer } from "./clock";

/** Maximum bytes of a datagram that a server accepts. */
export const RECORD_BYTES_MAX = 2_048;
/** A browser opens streams without a request, if the server allows this number of streams. */
const OPEN_MS = 1_000;
/** A loss on one of them delays that stream only. A server accepts no more. */
const COUNT = 8;
const PREFIX_BYTES = 2;
/** The highest bit of each length. */
const MARK = 0x8000;
/**
 * How much shorter a datagram must be than one of the session, so that one QUIC packet can contain it: its frame's
 * header is up to 11 bytes longer.
 */
export const STREAM_BYTES = 16;

export class DatagramStreams {
  readonly #writers: readonly WritableStreamDefaultWriter<Uint8Array>[];
  readonly #clock: Clock;
  #next = 0;

  private constructor(streams: readonly WritableStream<Uint8Array>[], clock: Clock) {
    this.#clock = clock;
    this.#writers = streams.map((stream) => stream.getWriter());
  }

  /** Opens all of them; `undefined` if the server allows fewer. */
  static async open(session: WebTransport, clock: Clock): Promise<DatagramStreams | undefined> {
    const opening = Promise.all(Array.from({ length: COUNT }, () => session.createUnidirectionalStream()));
    let timer: Timer | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = clock.after(OPEN_MS, () => resolve(undefined));
    });
    const streams = await Promise.race([opening.catch(() => undefined), late]);
    timer?.cancel();
    return streams && new DatagramStreams(streams as WritableStream<Uint8Array>[], clock);
  }

  /** Called when a stream has failed, for example because the server reset it: its datagrams are lost. */
  onFailure(call: (reason: string) => void): void {
    // With its session a stream fails, too, and before it: the session's own reason is the better one.
    const fail = (error: unknown): unknown =>
      this.#clock.after(0, () => call(`a stream of the session failed: ${reasonOf(error)}`));
    for (const writer of this.#writers) {
      writer.closed.catch(fail);
    }
  }

  /** Writes a datagram to the next stream in turn. The promise resolves when the browser has accepted it. */
  write(datagram: Uint8Array): Promise<void> {
    const writer = this.#writers[this.#next];
    if (writer === undefined) {
      return Promise.reject(new Error("a session without streams"));
    }
    this.#next = (this.#next + 1) % COUNT;
    const record = new Uint8Array(PREFIX_BYTES + datagram.length);
    new DataView(record.buffer).setUint16(0, MARK | datagram.length);
    record.set(datagram, PREFIX_BYTES);
    return writer.write(record);
  }
}
