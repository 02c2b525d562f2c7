// A server behind a simulated network (crates/skipstone-web/examples/simulated), and the carriers to it: a WebTransport
// and a WebSocket that behave like those of browsers, as far as experiments showed.

import { readFileSync } from "node:fs";
import type { VirtualClock } from "./virtual";

interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  begin(seed: bigint, carrier: number, loss: number, delay: number): void;
  bytes(count: number): number;
  up(now: number): void;
  step(now: number): void;
  down(now: number): number;
  due(): number;
  close(now: number, code: number): void;
  size(bytes: number): void;
  move_client(now: number, id: number): void;
  welcome(now: number, id: number): void;
  cancel(now: number, id: number): void;
  stage(): number;
  has_ticket(): number;
}

const FILE = new URL("../src/generated/simulated.wasm", import.meta.url);

function module(): WebAssembly.Module {
  try {
    return new WebAssembly.Module(readFileSync(FILE));
  } catch (error) {
    throw new Error(`${String(error)}: run \`node scripts/simulated.mjs\` first`, { cause: error });
  }
}

let compiled: WebAssembly.Module | undefined;

export interface LinkOptions {
  seed?: number;
  /** 0 to 1. */
  loss?: number;
  /** Milliseconds each way. */
  delay?: number;
}

/** A server with one client, over one carrier. It passes datagrams that arrive at the client to `onDatagram`. */
export class FarEnd {
  readonly #exports: Exports;
  readonly #clock: VirtualClock;
  readonly #began: number;
  onDatagram: ((datagram: Uint8Array<ArrayBuffer>) => void) | undefined;
  /** The longest datagram that was sent to the server, and the number of datagrams. */
  longest = 0;
  sent = 0;

  constructor(clock: VirtualClock, carrier: number, { seed = 1, loss = 0, delay = 10 }: LinkOptions) {
    compiled ??= module();
    this.#exports = new WebAssembly.Instance(compiled).exports as Exports;
    this.#clock = clock;
    this.#began = clock.now();
    this.#exports.begin(BigInt(seed), carrier, loss, delay * 1_000);
    clock.networks.push(this);
  }

  send(datagram: Uint8Array): void {
    this.longest = Math.max(this.longest, datagram.length);
    this.sent += 1;
    this.step();
    const at = this.#exports.bytes(datagram.length);
    new Uint8Array(this.#exports.memory.buffer).set(datagram, at);
    this.#exports.up(this.#now());
  }

  step(): void {
    this.#exports.step(this.#now());
    for (;;) {
      const length = this.#exports.down(this.#now());
      if (length < 0) {
        return;
      }
      const at = this.#exports.bytes(length);
      this.onDatagram?.(new Uint8Array(this.#exports.memory.buffer).slice(at, at + length));
    }
  }

  due(): number {
    return this.#began + this.#exports.due() / 1_000;
  }

  close(code: number): void {
    this.#exports.close(this.#now(), code);
  }

  /** Moves the client to the server of this address. */
  moveTo(id: number, address: string): void {
    const bytes = new TextEncoder().encode(address);
    const at = this.#exports.bytes(bytes.length);
    new Uint8Array(this.#exports.memory.buffer).set(bytes, at);
    this.#exports.move_client(this.#now(), id);
  }

  welcome(id: number): void {
    this.#exports.welcome(this.#now(), id);
  }

  cancel(id: number): void {
    this.#exports.cancel(this.#now(), id);
  }

  /** What the client has said about moves. */
  stage(): Stage | undefined {
    return (STAGES as Record<number, Stage>)[this.#exports.stage()];
  }

  /** Whether the client came by a move. */
  hasTicket(): boolean {
    return this.#exports.has_ticket() === 1;
  }

  setSize(bytes: number): void {
    this.#exports.size(bytes);
  }

  #now(): number {
    return Math.max(0, Math.ceil((this.#clock.now() - this.#began) * 1_000));
  }
}

/** As crates/skipstone-web/examples/simulated numbers them. */
const STAGES = {
  1: "able",
  2: "ready",
  3: "arrived",
  4: "left",
  10: "cancelled",
  11: "refused",
  12: "late",
  13: "other",
} as const;
export type Stage = (typeof STAGES)[keyof typeof STAGES];

/** How the carriers of a test behave. */
export interface Behaviour extends LinkOptions {
  /** Bytes of a datagram. */
  maxDatagramSize?: number;
  /** Unidirectional streams that the server allows; more are waited for. Default 8. */
  streamsMax?: number;
  /** Milliseconds until a session is ready, or `never`. */
  ready?: number | "never" | "refused";
  socketReady?: number | "never" | "refused";
}

/** The carriers of one test, and their far ends. */
export class FakeBrowser {
  readonly clock: VirtualClock;
  readonly behaviour: Behaviour;
  readonly sessions: FakeWebTransport[] = [];
  readonly sockets: FakeWebSocket[] = [];

  constructor(clock: VirtualClock, behaviour: Behaviour = {}) {
    this.clock = clock;
    this.behaviour = behaviour;
  }

  get carriers(): { WebTransport: typeof WebTransport; WebSocket: typeof WebSocket } {
    // The classes below are constructed by the code under test.
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    const browser = this;
    return {
      WebTransport: class extends FakeWebTransport {
        constructor(url: string, options: WebTransportOptions) {
          super(browser, url, options);
        }
      } as unknown as typeof WebTransport,
      WebSocket: class extends FakeWebSocket {
        constructor(url: string, protocol: string) {
          super(browser, url, protocol);
        }
      } as unknown as typeof WebSocket,
    };
  }
}

/** After this number of milliseconds, or never, or with an error. */
function opened(
  clock: VirtualClock,
  when: number | "never" | "refused",
  call: () => void,
  fail: () => void,
): void {
  if (when === "refused") {
    clock.after(1, fail);
  } else if (when !== "never") {
    clock.after(when, call);
  }
}

/** A stream that carries datagrams: their number, and what ends it. */
interface FakeStream {
  datagrams: number;
  reset: (error: Error) => void;
}

export class FakeWebTransport {
  readonly url: string;
  readonly options: WebTransportOptions;
  readonly ready: Promise<void>;
  readonly closed: Promise<WebTransportCloseInfo>;
  readonly datagrams;
  readonly streams: FakeStream[] = [];
  farEnd: FarEnd | undefined;
  isClosed = false;
  /** Datagrams that were longer than the session's maximum: they vanish silently. */
  vanished = 0;
  /** The maximum number of datagrams that were queued in the browser. */
  longestBurst = 0;
  /** Datagrams that were sent while the queue was full. */
  dropped = 0;
  readonly #streamsMax: number;
  #end!: { resolve: (info: WebTransportCloseInfo) => void; reject: (error: Error) => void };

  constructor(browser: FakeBrowser, url: string, options: WebTransportOptions) {
    this.url = url;
    this.options = options;
    this.#streamsMax = browser.behaviour.streamsMax ?? 8;
    browser.sessions.push(this);
    this.closed = new Promise((resolve, reject) => (this.#end = { resolve, reject }));
    this.closed.catch(() => undefined);
    let incoming!: ReadableStreamDefaultController<Uint8Array>;
    const queue: Uint8Array[] = [];
    let pending = 0;
    // Like a browser, it takes its data a moment later.
    const write = async (datagram: Uint8Array): Promise<void> => {
      pending += 1;
      this.longestBurst = Math.max(this.longestBurst, pending);
      await new Promise<void>((resolve) => browser.clock.after(0.05, resolve));
      pending -= 1;
      if (datagram.length > datagrams.maxDatagramSize) {
        this.vanished += 1;
      } else if (!this.isClosed) {
        this.farEnd?.send(datagram);
      }
    };
    const datagrams = {
      maxDatagramSize: browser.behaviour.maxDatagramSize ?? 1_211,
      incomingHighWaterMark: 1,
      outgoingHighWaterMark: 1,
      readable: new ReadableStream<Uint8Array>(
        {
          start: (controller) => void (incoming = controller),
          pull: (controller) => {
            const next = queue.shift();
            if (next !== undefined) {
              controller.enqueue(next);
            }
          },
        },
        { highWaterMark: 0 },
      ),
      writable: { getWriter: () => ({ write, closed: new Promise<void>(() => undefined) }) },
    };
    this.datagrams = datagrams;
    const begin = (): void => {
      this.farEnd = new FarEnd(browser.clock, 1, browser.behaviour);
      this.farEnd.onDatagram = (datagram) => {
        if ((incoming.desiredSize ?? 0) > 0 || queue.length < datagrams.incomingHighWaterMark) {
          queue.push(datagram);
          const next = (incoming.desiredSize ?? -1) >= 0 ? queue.shift() : undefined;
          if (next !== undefined && !this.isClosed) {
            incoming.enqueue(next);
          }
        } else {
          this.dropped += 1;
        }
      };
    };
    this.ready = new Promise((resolve, reject) => {
      const { ready = 30 } = browser.behaviour;
      const fail = (): void => reject(new Error("Opening handshake failed."));
      const succeed = (): void => {
        begin();
        resolve();
      };
      opened(browser.clock, ready, succeed, fail);
    });
    this.ready.catch(() => undefined);
  }

  /** Read as a server reads it: length-prefixed datagrams, in writes of any length. */
  createUnidirectionalStream(): Promise<unknown> {
    if (this.streams.length === this.#streamsMax) {
      return new Promise(() => undefined);
    }
    let begun: number[] = [];
    const stream: FakeStream = { datagrams: 0, reset: () => undefined };
    this.streams.push(stream);
    const closed = new Promise<void>((_, reject) => (stream.reset = reject));
    closed.catch(() => undefined);
    const write = (bytes: Uint8Array): Promise<void> => {
      begun.push(...bytes);
      for (;;) {
        const length = (((begun[0] ?? 0) << 8) | (begun[1] ?? 0)) - 0x8000;
        if (begun.length < 2 || begun.length < 2 + length) {
          return Promise.resolve();
        }
        stream.datagrams += 1;
        this.farEnd?.send(Uint8Array.from(begun.slice(2, 2 + length)));
        begun = begun.slice(2 + length);
      }
    };
    return Promise.resolve({ getWriter: () => ({ write, closed }) });
  }

  close(): void {
    this.isClosed = true;
    // Streams fail with their session, and first.
    this.streams.forEach(({ reset }) => reset(new Error("the session is closed")));
    this.#end.resolve({ closeCode: 0, reason: "" });
  }

  /** The network breaks. */
  lose(): void {
    this.isClosed = true;
    this.streams.forEach(({ reset }) => reset(new Error("the session is lost")));
    this.#end.reject(new Error("Connection lost."));
  }
}

export class FakeWebSocket {
  readonly OPEN = 1;
  readonly url: string;
  readonly protocol: string;
  readyState = 0;
  bufferedAmount = 0;
  binaryType = "blob";
  onopen: (() => void) | undefined;
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onerror: (() => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | undefined;
  farEnd: FarEnd | undefined;

  constructor(browser: FakeBrowser, url: string, protocol: string) {
    this.url = url;
    this.protocol = protocol;
    browser.sockets.push(this);
    const { socketReady = 30 } = browser.behaviour;
    const succeed = (): void => {
      if (this.readyState !== 0) {
        return;
      }
      this.readyState = 1;
      this.farEnd = new FarEnd(browser.clock, 0, { ...browser.behaviour, loss: 0 });
      this.farEnd.onDatagram = (datagram) => this.onmessage?.({ data: datagram.buffer });
      this.onopen?.();
    };
    const fail = (): void => {
      this.readyState = 3;
      this.onerror?.();
      this.onclose?.({ code: 1006, reason: "" });
    };
    opened(browser.clock, socketReady, succeed, fail);
  }

  send(datagram: Uint8Array): void {
    this.farEnd?.send(datagram);
  }

  close(): void {
    this.readyState = 3;
  }

  /** The server's end has failed. */
  lose(): void {
    this.readyState = 3;
    this.onclose?.({ code: 1006, reason: "" });
  }
}
