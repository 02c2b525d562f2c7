// A WebSocket as a carrier: each datagram is a binary message (WIRE.md section 7).

import type { Carrier, CarrierHandlers, Opening } from "./carrier";
import { Inbox } from "./inbox";

/** The subprotocol that the server answers to. */
const SUBPROTOCOL = "skipstone.1";
/** Maximum bytes queued in the browser: more would delay urgent messages. */
const BUFFERED_BYTES_MAX = 65_536;

/** Opens a WebSocket. */
export function openWebSocket(url: string, Socket: typeof WebSocket): Opening {
  let socket: WebSocket | undefined;
  const ready = new Promise<Carrier>((resolve, reject) => {
    const opening = new Socket(url, SUBPROTOCOL);
    socket = opening;
    opening.binaryType = "arraybuffer";
    opening.onopen = () => resolve(new WebSocketCarrier(opening));
    opening.onerror = () => reject(new Error("the WebSocket cannot be opened"));
    opening.onclose = (event) =>
      reject(new Error(`the WebSocket was closed (${event.code}) before it was open`));
  });
  return { ready, cancel: () => socket?.close() };
}

class WebSocketCarrier implements Carrier {
  readonly kind = "websocket";
  readonly packetBytesMax = 0;
  readonly isRepaired = false;
  readonly counters = { oversized: 0, unsent: 0 };
  readonly #socket: WebSocket;
  readonly #inbox = new Inbox();

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = (event: MessageEvent<unknown>) => {
      if (event.data instanceof ArrayBuffer) {
        this.#inbox.receive(new Uint8Array(event.data));
      }
    };
    socket.onerror = null;
    socket.onclose = (event) =>
      this.#inbox.lose(`the WebSocket was closed: ${event.code} ${event.reason}`.trim());
  }

  get handlers(): CarrierHandlers | undefined {
    return this.#inbox.handlers;
  }

  set handlers(handlers: CarrierHandlers | undefined) {
    this.#inbox.handlers = handlers;
  }

  /** A WebSocket does not report that it has room again: after a refusal the caller tries again later. */
  get isWritable(): boolean {
    return this.#socket.bufferedAmount < BUFFERED_BYTES_MAX;
  }

  send(datagram: Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === this.#socket.OPEN) {
      this.#socket.send(datagram);
    }
  }

  leave(): void {
    // The browser sends its queued data before the close.
  }

  close(): void {
    this.#inbox.handlers = undefined;
    this.#socket.close(1000);
  }
}
