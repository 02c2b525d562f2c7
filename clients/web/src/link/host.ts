// Where the protocol runs: in a worker that all clients of the page share, or in a worker of the application's.

import { coreModule } from "../core/module";
import type { News, Order } from "./messages";

/** One end of the link, for many clients. */
export interface Host {
  /** Assigns a number to a client, and delivers its updates. */
  add(onNews: (news: News) => void): number;
  remove(client: number): void;
  post(order: Order, transfer: ArrayBuffer[]): void;
  /** The compiled protocol. */
  module(): Promise<WebAssembly.Module>;
}

/** Numbers the clients and sorts the news. */
export abstract class Numbered {
  readonly #clients = new Map<number, (news: News) => void>();
  #next = 0;

  add(onNews: (news: News) => void): number {
    this.#next += 1;
    this.#clients.set(this.#next, onNews);
    return this.#next;
  }

  remove(client: number): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) {
      this.onEmpty();
    }
  }

  module(): Promise<WebAssembly.Module> {
    return coreModule();
  }

  protected dispatch(news: News): void {
    this.#clients.get(news.client)?.(news);
  }

  protected dispatchAll(make: (client: number) => News): void {
    [...this.#clients.keys()].forEach((client) => this.dispatch(make(client)));
  }

  protected onEmpty(): void {
    // Most hosts keep nothing.
  }
}

/** A worker. It starts with the first order, and ends some time after the last client. */
export class WorkerHost extends Numbered implements Host {
  readonly #start: () => Worker;
  readonly #onFailure: (client: number, reason: string) => News;
  #worker: Worker | undefined;
  /** Stops receiving from the worker. */
  #listening = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(start: () => Worker, onFailure: (client: number, reason: string) => News) {
    super();
    this.#start = start;
    this.#onFailure = onFailure;
  }

  /** Only a new client needs a worker: the worker of the others has ended with their state. */
  post(order: Order, transfer: ArrayBuffer[]): void {
    if (order.order === "open") {
      clearTimeout(this.#timer);
      this.#worker ??= this.#begin();
    }
    this.#worker?.postMessage(order, transfer);
  }

  /** The last goodbye may still be on its way. */
  protected override onEmpty(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#terminate(), IDLE_MS);
  }

  #terminate(): void {
    this.#listening.abort();
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #begin(): Worker {
    const worker = this.#start();
    worker.onmessage = (event: MessageEvent<News>) => this.dispatch(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      const reason = `the worker failed: ${event.message || "it cannot be loaded; does the page's policy allow it?"}`;
      // Its sockets end with it: their messages are ignored.
      this.#terminate();
      this.dispatchAll((client) => this.#onFailure(client, reason));
    };
    if (typeof addEventListener === "function" && typeof document !== "undefined") {
      this.#listening = new AbortController();
      const leave = ({ persisted }: PageTransitionEvent): void =>
        worker.postMessage({ order: "leave", mayReturn: persisted } satisfies Order);
      addEventListener("pagehide", leave, { signal: this.#listening.signal });
    }
    return worker;
  }
}

/** How long an idle worker is kept. */
const IDLE_MS = 10_000;
