// Virtual time: timers and tasks run when a test says so, with all promise callbacks in between.

import type { Clock, Timer } from "../src/driver/clock";

interface Pending {
  at: number;
  order: number;
  call: () => void;
}

export class VirtualClock implements Clock {
  #now = 1_000;
  #order = 0;
  #timers: Pending[] = [];
  readonly #tasks: (() => void)[] = [];
  #seed: number;
  /** Something else with timers: networks. */
  readonly networks: { due(): number; step(): void }[] = [];

  constructor(seed = 1) {
    this.#seed = seed;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): Timer {
    this.#order += 1;
    const timer = { at: this.#now + Math.max(ms, 0), order: this.#order, call };
    this.#timers.push(timer);
    return { cancel: () => (this.#timers = this.#timers.filter((one) => one !== timer)) };
  }

  soon(call: () => void): void {
    this.#tasks.push(call);
  }

  random(): number {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return this.#seed / 2 ** 31;
  }

  seed(): Uint8Array {
    return Uint8Array.from({ length: 32 }, () => Math.floor(this.random() * 256));
  }

  /** Runs everything that happens within this number of milliseconds, or until the condition holds. */
  async run(ms: number, isDone: () => boolean = () => false): Promise<boolean> {
    const end = this.#now + ms;
    for (;;) {
      await this.#settle();
      if (isDone()) {
        return true;
      }
      const next = Math.min(
        ...this.networks.map((network) => network.due()),
        ...this.#timers.map((timer) => timer.at),
      );
      if (next > end) {
        this.#now = end;
        return false;
      }
      // A network may name a time that turns out to be too early: time advances all the same.
      this.#now = Math.max(next, this.#now + 0.001);
      this.#runTimers();
    }
  }

  #runTimers(): void {
    const due = this.#timers
      .filter((timer) => timer.at <= this.#now)
      .sort((a, b) => a.at - b.at || a.order - b.order);
    this.#timers = this.#timers.filter((timer) => timer.at > this.#now);
    due.forEach((timer) => timer.call());
  }

  async #settle(): Promise<void> {
    for (;;) {
      this.networks.forEach((network) => network.step());
      // Promises settle in the microtasks before it.
      await new Promise<void>((resolve) => setImmediate(resolve));
      const task = this.#tasks.shift();
      if (task === undefined) {
        return;
      }
      task();
    }
  }
}
