// All clients of a page, by number: the worker's end of the link.

import type { Sockets } from "../driver/carrier";
import type { Clock } from "../driver/clock";
import { Session } from "../driver/session";
import type { News, Order } from "../link/messages";
import { closeCode } from "../close";
import { EVENT } from "../core/core";
import { BatchWriter, buffersOf } from "../link/batch";
import { reasonOf } from "../errors";

/** What the sessions need from their thread. */
export interface Thread {
  clock: Clock;
  sockets: Sockets;
  epochNow(): number;
  post(news: News, transfer: ArrayBuffer[]): void;
}

export class Sessions {
  readonly #thread: Thread;
  readonly #sessions = new Map<number, Session>();

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** Executes a request of the page. Requests for an ended client are ignored. */
  handle(order: Order): void {
    if (order.order === "leave") {
      this.#sessions.forEach((session) => session.leave(order.mayReturn));
      return;
    }
    if (order.order === "open") {
      this.#open(order);
      return;
    }
    const session = this.#sessions.get(order.client);
    switch (order.order) {
      case "token":
        session?.onToken(order.attempt, order.token, order.hashes);
        return;
      case "noToken":
        session?.onNoToken(order.attempt, order.reason);
        return;
      case "send":
        session?.send(order.batch);
        return;
      case "flush":
        session?.flush();
        return;
      case "credit":
        session?.credit(order.bytes);
        return;
      case "close":
        session?.close(order.code, order.reason, order.linger);
    }
  }

  /** The network is back. */
  onOnline(): void {
    this.#sessions.forEach((session) => session.onOnline());
  }

  #open({ client, module, options }: Order & { order: "open" }): void {
    const { clock, sockets } = this.#thread;
    const epochNow = (): number => this.#thread.epochNow();
    const post = (news: News, transfer: ArrayBuffer[]): void => this.#thread.post(news, transfer);
    const onGone = (): void => {
      this.#sessions.delete(client);
    };
    try {
      const world = { clock, sockets, epochNow, onGone };
      this.#sessions.set(client, new Session(client, module, options, world, post));
    } catch (error) {
      // The core refuses an option: the client ends before it began.
      const events = new BatchWriter();
      events.add([EVENT.closed, 0, 0, 0], new Uint8Array(0));
      const close = { by: "local" as const, code: closeCode.refused, reason: reasonOf(error) };
      const batch = events.take();
      post(
        { client, events: batch, details: [{ close, retryIn: undefined }], isOver: true },
        buffersOf(batch),
      );
    }
  }
}
