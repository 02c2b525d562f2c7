// The page's side of a client: messages go to the worker, events come from it, both through bounded queues.

import { Admission } from "./admission";
import type { Answer, Ask } from "./asking";
import { closeCode, type Close } from "./close";
import { countersOf } from "./core/figures";
import { EVENT } from "./core/core";
import type { ClientEvent, GivenUp, MessageId } from "./events";
import { BatchWriter, buffersOf, eachItem } from "./link/batch";
import type { Host } from "./link/host";
import { Queue } from "./link/queue";
import {
  EVENT_NUMBERS,
  ITEM_BYTES,
  type Detail,
  type News,
  type Order,
  type StatisticsNews,
} from "./link/messages";
import type { DriverOptions } from "./options";
import { reasonOf } from "./errors";
import type { ServerSettings } from "./settings";
import { Averages, type CarrierKind, type Statistics } from "./statistics";

/** The state of a client. */
export type ClientState =
  /** The first attempt, or another one, is under way, or will be after a pause. */
  | "connecting"
  | "connected"
  /** The application closed it; its last event follows. */
  | "closing"
  | "closed";

/** Options of a close. */
export interface CloseOptions {
  /** Below 1,000 the application's own. Default 0. */
  code?: number;
  /** For people; up to 512 bytes. */
  reason?: string;
  /** Milliseconds that reliable messages have to arrive first. Default 0. */
  linger?: number;
}

/** The server's clock, estimated. */
export interface ServerTime {
  /** Milliseconds for which the server has been running. */
  at: number;
  /** Greatest difference from the server's own clock, in both directions, in milliseconds. */
  error: number;
}

const GIVEN_UP: readonly GivenUp[] = ["queueFull", "dropped", "superseded", "lost", "tooLong", "closed"];
const TOKEN_BYTES_MAX = 1_024;
/** The worker is told of taken events after this number of bytes, and when none is left. */
const CREDIT_BYTES = 65_536;

const encoder = new TextEncoder();
const bytesOf = (payload: Uint8Array | ArrayBuffer | string): Uint8Array => {
  if (typeof payload === "string") {
    return encoder.encode(payload);
  }
  return payload instanceof ArrayBuffer ? new Uint8Array(payload) : payload;
};

/** A connection to a server, which is made again when it is lost. `connect` begins one. */
export class Client {
  readonly #host: Host;
  readonly #number: number;
  readonly #ask: Ask;
  readonly #admission: Admission;
  readonly #outgoing = new BatchWriter();
  #isPosting = false;
  #nextId = 1;
  readonly #events = new Queue<ClientEvent>();
  /** Bytes of events that the application has taken and of which the worker has not been told. */
  #credit = 0;
  #onEvent: ((event: ClientEvent) => void) | undefined;
  #waiters: ((isOver: boolean) => void)[] = [];
  #state: ClientState = "connecting";
  #carrier: CarrierKind | undefined;
  /** The worker knows of the client. */
  #isOpen = false;
  #isOver = false;
  #statistics: StatisticsNews | undefined;
  #averages = new Averages();

  /** @internal */
  constructor(host: Host, options: DriverOptions, ask: Ask) {
    this.#host = host;
    this.#ask = ask;
    this.#admission = new Admission(options.queueBytesMax);
    this.#number = host.add((news) => this.#onNews(news));
    host.module().then(
      (module) => {
        if (!this.#isOver) {
          this.#isOpen = true;
          this.#host.post({ order: "open", client: this.#number, module, options }, []);
        }
      },
      (error: unknown) => {
        const reason = `the protocol cannot be compiled: ${String(error)}; does the page's policy allow 'wasm-unsafe-eval'?`;
        this.#onNews(over(this.#number, { by: "local", code: closeCode.carrierLost, reason }));
      },
    );
  }

  get state(): ClientState {
    return this.#state;
  }

  /** The server's settings; `undefined` while the connection is not established. */
  get settings(): ServerSettings | undefined {
    return this.#admission.settings;
  }

  /** The carrier of the connection; `undefined` before the first one. */
  get carrier(): CarrierKind | undefined {
    return this.#carrier;
  }

  /** Bytes of messages that were accepted and not yet taken by the worker. */
  get bufferedBytes(): number {
    return this.#admission.bytes;
  }

  /**
   * Queues a message and returns its name. It leaves with all others of this task. On a reliable channel it is
   * delivered, or ends in `givenUp`, or its connection ends in `closed`. `age` is that of the message that it answers,
   * in ms: late messages go out in copies. The bytes are copied.
   *
   * Throws a `SendError` with the reason if the message was not accepted.
   */
  send(channel: number, payload: Uint8Array | ArrayBuffer | string, age = 0): MessageId {
    const bytes = bytesOf(payload);
    this.#admission.admit(channel, bytes);
    const id = this.#nextId;
    this.#nextId += 1;
    this.#outgoing.add([channel, id, Math.max(0, age) * 1_000], bytes);
    this.#postSoon();
    return id;
  }

  /** Sends messages that wait for a flush, if the settings or the options merge messages until then. */
  flush(): void {
    this.#postNow();
    this.#order({ order: "flush", client: this.#number }, []);
  }

  /** Ends the connection for good; `closed` follows. */
  close({ code = closeCode.none, reason = "", linger = 0 }: CloseOptions = {}): void {
    if (this.#state === "closing" || this.#state === "closed") {
      return;
    }
    if (!(code >= 0 && code < 2 ** 53)) {
      throw new RangeError(`a close code is 0 to 2^53, not ${code}; those below 1,000 are yours`);
    }
    this.#postNow();
    this.#state = "closing";
    this.#admission.close();
    if (this.#isOpen) {
      this.#host.post(
        { order: "close", client: this.#number, code, reason, linger: Math.max(0, linger) },
        [],
      );
    } else {
      // Nothing has begun. Its last event follows after the call, as always.
      queueMicrotask(() => this.#onNews(over(this.#number, { by: "local", code, reason })));
    }
  }

  /** The next event, for a game loop. Events that are not taken fill the queue, and then the server is slowed down. */
  pollEvent(): ClientEvent | undefined {
    const event = this.#events.shift();
    if (event !== undefined) {
      this.#onTaken(event);
    }
    return event;
  }

  /** The function that is called with each event, in place of `pollEvent`. */
  get onEvent(): ((event: ClientEvent) => void) | undefined {
    return this.#onEvent;
  }

  set onEvent(onEvent: ((event: ClientEvent) => void) | undefined) {
    this.#onEvent = onEvent;
    this.#deliver();
  }

  /** All events to the last one: `for await (const event of client)`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ClientEvent, void, undefined> {
    for (;;) {
      const event = this.pollEvent();
      if (event !== undefined) {
        yield event;
      } else if (this.#isOver || (await new Promise<boolean>((resolve) => this.#waiters.push(resolve)))) {
        return;
      }
    }
  }

  /** State and counters of the connection, up to 100 ms ago; those of the last one after it ended. */
  statistics(): Statistics | undefined {
    if (this.#statistics === undefined) {
      return undefined;
    }
    const { names, figures, carrier, page } = this.#statistics;
    const { sending, receiving } = this.#averages;
    return { ...countersOf(names, figures), carrier, page, sending, receiving };
  }

  /** The server's clock; `undefined` before its first answer. */
  serverTime(): ServerTime | undefined {
    const [at, error] = this.#statistics?.serverTime ?? [];
    if (
      this.#statistics === undefined ||
      at === undefined ||
      error === undefined ||
      this.#state !== "connected"
    ) {
      return undefined;
    }
    const since = Math.max(0, performance.timeOrigin + performance.now() - this.#statistics.at);
    return { at: at / 1_000 + since, error: error / 1_000 + since * DRIFT };
  }

  #postSoon(): void {
    if (!this.#isPosting) {
      this.#isPosting = true;
      queueMicrotask(() => this.#postNow());
    }
  }

  #postNow(): void {
    this.#isPosting = false;
    const batch = this.#outgoing.take();
    if (batch !== undefined) {
      this.#order({ order: "send", client: this.#number, batch }, buffersOf(batch));
    }
  }

  /** A worker that does not know this client has nothing to do for it. */
  #order(order: Order, transfer: ArrayBuffer[]): void {
    if (this.#isOpen && !this.#isOver) {
      this.#host.post(order, transfer);
    }
  }

  #onNews(news: News): void {
    if (this.#isOver) {
      return;
    }
    this.#admission.onTaken(news.taken ?? 0, news.gates ?? []);
    if (news.statistics !== undefined) {
      this.#onStatistics(news.statistics);
    }
    if (news.attempt !== undefined) {
      void this.#answer(news.attempt);
    }
    const details = [...(news.details ?? [])];
    if (news.events !== undefined) {
      eachItem(news.events, EVENT_NUMBERS, (numbers, bytes) => this.#onItem(numbers, bytes, details));
    }
    if (news.isOver) {
      this.#state = "closed";
      this.#isOver = true;
      this.#host.remove(this.#number);
    }
    this.#deliver();
    this.#waiters.splice(0).forEach((resolve) => resolve(this.#isOver && this.#events.length === 0));
  }

  #onItem(numbers: Float64Array, bytes: Uint8Array<ArrayBuffer>, details: Detail[]): void {
    const [kind, channel = 0, second = 0, third = 0] = numbers;
    switch (kind) {
      case EVENT.message:
        // A copy, so that one small message does not keep the memory of the whole batch.
        this.#events.push({ type: "message", channel, payload: bytes.slice(), age: second / 1_000 });
        return;
      case EVENT.acknowledged:
        this.#events.push({ type: "acknowledged", channel, id: second });
        return;
      case EVENT.givenUp:
        this.#events.push({ type: "givenUp", channel, id: second, why: GIVEN_UP[third] ?? "other" });
        return;
      default:
        this.#onDetail(details.shift());
    }
  }

  #onDetail(detail: Detail | undefined): void {
    if (detail === undefined) {
      return;
    }
    if ("settings" in detail) {
      this.#carrier = detail.carrier;
      this.#averages = new Averages();
      if (detail.moved !== undefined) {
        // The other server has its own clock and counters.
        this.#statistics = undefined;
        this.#admission.update(detail.settings);
        this.#events.push({ type: "moved", url: detail.moved, carrier: detail.carrier });
        return;
      }
      if (this.#state === "connecting") {
        this.#state = "connected";
        this.#admission.open(detail.settings);
      }
      this.#events.push({ type: "connected", settings: detail.settings, carrier: detail.carrier });
      return;
    }
    const { close, retryIn } = detail;
    this.#admission.close();
    this.#state = this.#state === "closing" ? "closing" : "connecting";
    this.#events.push(retryIn === undefined ? { type: "closed", close } : { type: "closed", close, retryIn });
  }

  async #answer(attempt: number): Promise<void> {
    let answer: Answer;
    try {
      answer = await this.#ask();
    } catch (error) {
      // The service that issues tokens may be unreachable for a moment, as the server may be.
      this.#order({ order: "noToken", client: this.#number, attempt, reason: reasonOf(error) }, []);
      return;
    }
    const { hashes } = answer;
    const token = bytesOf(answer.token);
    if (token.length > TOKEN_BYTES_MAX) {
      const reason = `a token has at most ${TOKEN_BYTES_MAX} bytes, and this one ${token.length}`;
      this.close({ code: closeCode.refused, reason });
      return;
    }
    this.#order({ order: "token", client: this.#number, attempt, token: token.slice(), hashes }, []);
  }

  #onStatistics(news: StatisticsNews): void {
    this.#statistics = news;
    this.#averages.update(news.at, countersOf(news.names, news.figures));
  }

  #deliver(): void {
    while (this.#onEvent !== undefined) {
      const event = this.pollEvent();
      if (event === undefined) {
        return;
      }
      try {
        this.#onEvent(event);
      } catch (error) {
        // The page gets it like any error of its own, and this client continues: `closed` may be next.
        report(error);
      }
    }
  }

  #onTaken(event: ClientEvent): void {
    this.#credit += ITEM_BYTES + (event.type === "message" ? event.payload.length : 0);
    if (!this.#isOver && (this.#credit >= CREDIT_BYTES || this.#events.length === 0)) {
      this.#order({ order: "credit", client: this.#number, bytes: this.#credit }, []);
      this.#credit = 0;
    }
  }
}

/** As if it were uncaught. */
function report(error: unknown): void {
  if (typeof reportError === "function") {
    reportError(error);
  } else {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Maximum relative drift of two clocks. */
const DRIFT = 0.0002;

/** The message that a client without a worker has ended. */
function over(client: number, close: Close): News {
  const events = new BatchWriter();
  events.add([EVENT.closed, 0, 0, 0], new Uint8Array(0));
  return { client, events: events.take(), details: [{ close, retryIn: undefined }], isOver: true };
}

/** The news that a client's worker failed. */
export function failure(client: number, reason: string): News {
  return over(client, { by: "local", code: closeCode.carrierLost, reason });
}
