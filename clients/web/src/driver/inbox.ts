// Datagrams that arrived on a carrier before it has a listener, and then the listener.

import type { CarrierHandlers } from "./carrier";

/** Maximum number of datagrams without a listener, between the opening and the next task. */
const EARLY_MAX = 64;

export class Inbox {
  readonly #early: Uint8Array<ArrayBuffer>[] = [];
  #handlers: CarrierHandlers | undefined;
  #lost: string | undefined;

  get handlers(): CarrierHandlers | undefined {
    return this.#handlers;
  }

  set handlers(handlers: CarrierHandlers | undefined) {
    this.#handlers = handlers;
    this.#early.splice(0).forEach((datagram) => handlers?.onDatagram(datagram));
    if (this.#lost !== undefined) {
      handlers?.onLost(this.#lost);
    }
  }

  receive(datagram: Uint8Array<ArrayBuffer>): void {
    if (this.#handlers !== undefined) {
      this.#handlers.onDatagram(datagram);
    } else if (this.#early.length < EARLY_MAX) {
      this.#early.push(datagram);
    }
  }

  /** The carrier has failed; the first reason is kept. */
  lose(reason: string): void {
    if (this.#lost !== undefined) {
      return;
    }
    this.#lost = reason;
    this.#handlers?.onLost(reason);
  }
}
