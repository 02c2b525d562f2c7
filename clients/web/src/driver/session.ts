// One client of the page in the worker: it opens a carrier, drives the connection, and connects again when it is lost.

import { isTemporary, closeCode, type Close, type ClosedBy } from "../close";
import { Core, EVENT, REFUSAL, type CoreEvent } from "../core/core";
import { settingsOf } from "../core/figures";
import { BatchWriter, buffersOf, eachItem, type Batch } from "../link/batch";
import { ITEM_BYTES, SEND_NUMBERS, type Detail, type GateNews, type News } from "../link/messages";
import type { CarrierChoice, DriverOptions } from "../options";
import { ruleFor, type ServerSettings } from "../settings";
import { Backoff } from "./backoff";
import { reasonOf } from "../errors";
import type { Carrier, Sockets } from "./carrier";
import type { Clock, Timer } from "./clock";
import { contestants, type Hashes } from "./contestants";
import { Destination, noticeOf } from "./destination";
import { Moving } from "./moving";
import { Pump, type PumpOwner } from "./pump";
import { race, type Race } from "./race";

/** How often statistics are published, in ms. */
const PUBLISH_MS = 100;

/** A connection that was established for this long was not a failure, in ms. */
const SETTLED_MS = 10_000;

const CLOSED_BY: readonly ClosedBy[] = ["local", "peer", "nobody"];
const NO_BYTES = new Uint8Array(0);

type Post = (news: News, transfer: ArrayBuffer[]) => void;

/** What a session needs from its environment. */
export interface Environment {
  clock: Clock;
  sockets: Sockets;
  /** A client has ended, and its carriers are closed. */
  onGone(client: number): void;
  /** Milliseconds since the epoch, on the same clock in the page and in the worker. */
  epochNow(): number;
}

export class Session implements PumpOwner {
  readonly #client: number;
  readonly #options: DriverOptions;
  readonly #world: Environment;
  readonly #post: Post;
  readonly #core: Core;
  readonly #pump: Pump;
  readonly #moving: Moving;
  readonly #backoff: Backoff | undefined;
  readonly #events = new BatchWriter();
  #details: Detail[] = [];
  /** Bytes of events that the application has not taken. */
  #eventBytes = 0;
  #takenBytes = 0;
  #attempt = 0;
  #socket: number | undefined;
  #race: Race | undefined;
  /** The pause before the next attempt. */
  #timer: Timer | undefined;
  /** The deadline of a request for a token. */
  #asking: Timer | undefined;
  /** The connection has not been established for long. */
  #settling: Timer | undefined;
  /** The close that the application requested. */
  #closing: Close | undefined;
  readonly #destination: Destination;
  /** The hashes of certificates that the application gave for the last attempt. */
  #asked: Hashes = [];
  /** The kind of carrier that led to no connection the last time: it starts second. */
  #failed: CarrierChoice["kind"] | undefined;
  #isConnected = false;
  #isOver = false;
  /** Channels that refuse when they are full, and those of them with queued messages. */
  readonly #gates = new Map<number, GateNews>();
  readonly #waiting = new Set<number>();
  #settings: ServerSettings | undefined;
  #publishedAt = -Infinity;
  #publishTimer: Timer | undefined;
  #names: string[] = [];

  constructor(
    client: number,
    module: WebAssembly.Module,
    options: DriverOptions,
    world: Environment,
    post: Post,
  ) {
    this.#client = client;
    this.#options = options;
    this.#world = world;
    this.#post = post;
    this.#core = new Core(module, world.clock.seed(), new Map(options.core));
    this.#pump = new Pump(this.#core, world.clock, this);
    this.#moving = new Moving(this.#core, this.#pump);
    this.#destination = new Destination(options.carriers);
    this.#backoff = options.reconnect && new Backoff(options.reconnect, world.clock);
    this.#begin();
  }

  /** The page has the token of this attempt, and hashes of certificates in addition to those of the options. */
  onToken(attempt: number, token: Uint8Array, hashes: Hashes): void {
    if (this.#isAsking(attempt)) {
      this.#asked = hashes;
      this.#dial(token);
    }
  }

  /** The page has none: the attempt has failed like one that reaches no server. */
  onNoToken(attempt: number, reason: string): void {
    if (this.#isAsking(attempt)) {
      this.#end({ by: "nobody", code: closeCode.unreachable, reason });
    }
  }

  /** Whether this attempt waits for its token; after the call it does not. */
  #isAsking(attempt: number): boolean {
    const isAsking = attempt === this.#attempt && this.#asking !== undefined && !this.#isOver;
    if (isAsking) {
      this.#asking?.cancel();
      this.#asking = undefined;
    }
    return isAsking;
  }

  /** Messages that the page has accepted. */
  send(batch: Batch): void {
    const now = this.#pump.now();
    eachItem(batch, SEND_NUMBERS, ([channel = 0, id = 0, age = 0], bytes) => {
      this.#takenBytes += bytes.length + ITEM_BYTES;
      if (this.#socket !== undefined) {
        this.#core.sendAccepted(now, this.#socket, channel, id, bytes, age);
        this.#count(channel, bytes.length);
      }
    });
    this.#pump.soon();
  }

  flush(): void {
    this.#core.flush(this.#pump.now());
    this.#pump.soon();
  }

  credit(bytes: number): void {
    this.#eventBytes = Math.max(0, this.#eventBytes - bytes);
    this.#pump.soon();
  }

  close(code: number, reason: string, linger: number): void {
    if (this.#isOver) {
      return;
    }
    this.#closing = { by: "local", code, reason };
    if (this.#socket === undefined) {
      this.#end(this.#closing);
    } else {
      this.#core.close(this.#pump.now(), this.#socket, code, reason, linger * 1_000);
      this.#pump.soon();
    }
  }

  /**
   * The page is left: there is no time for a close beyond the carrier's own. A page that the browser keeps is notified
   * when it is shown again, and connects again then.
   */
  leave(mayReturn: boolean): void {
    const reason = "the page was left";
    const socket = this.#socket;
    const wasTrying = socket !== undefined || this.#race !== undefined;
    // From here on all results of this connection are ignored.
    this.#socket = undefined;
    if (socket !== undefined) {
      const sockets = [socket, this.#moving.socket].filter((one) => one !== undefined);
      sockets.forEach((one) => this.#pump.carrierOf(one)?.leave());
      this.#core.close(this.#pump.now(), socket, closeCode.none, reason, 0);
      this.#pump.turn();
      sockets.forEach((one) => this.#pump.drop(one));
    }
    if (!mayReturn) {
      this.#stop();
    } else if (wasTrying) {
      this.#end(this.#closing ?? { by: "nobody", code: closeCode.carrierLost, reason });
    }
  }

  /** The network is back: there is no need to wait for the end of the pause. */
  onOnline(): void {
    if (this.#timer !== undefined) {
      this.#timer.cancel();
      this.#backoff?.reset();
      this.#begin();
    }
  }

  hasRoom(): boolean {
    return this.#eventBytes < this.#options.queueBytesMax;
  }

  onEvent(event: CoreEvent): void {
    if (event.socket !== this.#socket) {
      return;
    }
    switch (event.kind) {
      case EVENT.connected:
        this.#onConnected(event);
        return;
      case EVENT.closed:
        this.#onClosed(event);
        return;
      case EVENT.open:
        this.#onOpen(textOf(event.bytes));
        return;
      case EVENT.moved:
        this.#onMoved(event.numbers[0]);
        return;
      default:
        this.#push(event.kind, event.numbers, event.bytes);
    }
  }

  onTurn(): void {
    this.#publish();
    this.#tell();
    if (this.#isOver && this.#pump.isIdle) {
      this.#stop();
    }
  }

  onFailure(error: unknown): void {
    this.#end({
      by: "local",
      code: closeCode.protocol,
      reason: `the protocol failed, please report it: ${reasonOf(error)}`,
    });
  }

  /** Asks for the token of the next attempt. */
  #begin(): void {
    this.#timer = undefined;
    this.#attempt += 1;
    const { tokenTimeout } = this.#options;
    this.#asking = this.#world.clock.after(tokenTimeout, () => {
      this.onNoToken(this.#attempt, `the application gave no token within ${tokenTimeout} ms`);
    });
    this.#post({ client: this.#client, attempt: this.#attempt }, []);
  }

  /** The best first; one that the last time led to no connection starts last. */
  #dial(token: Uint8Array): void {
    const choices = [...this.#destination.carriers];
    if (choices[0]?.kind === this.#failed) {
      choices.push(...choices.splice(0, 1));
    }
    const dialed = this.#open(choices);
    this.#race = dialed;
    dialed.winner.then(
      (carrier) => this.#connect(dialed, carrier, token),
      (error: unknown) => {
        if (this.#race === dialed) {
          this.#end({ by: "nobody", code: closeCode.unreachable, reason: reasonOf(error) });
        }
      },
    );
  }

  #connect(dialed: Race, carrier: Carrier, token: Uint8Array): void {
    if (this.#race !== dialed) {
      // It was given up at the moment at which it won.
      carrier.close();
      return;
    }
    this.#race = undefined;
    const socket = this.#pump.connect(carrier, token);
    if (socket < 0) {
      const reason =
        socket === REFUSAL.tokenTooLong ? "the token has more than 1,024 bytes" : `refused (${socket})`;
      this.#end({ by: "local", code: closeCode.refused, reason });
      return;
    }
    this.#socket = socket;
  }

  /** Begins to open carriers to a server. */
  #open(choices: readonly CarrierChoice[]): Race {
    const { clock, sockets } = this.#world;
    const { headStart, handshakeTimeout } = this.#options;
    return race(contestants(choices, this.#asked, sockets, clock), headStart, handshakeTimeout, clock);
  }

  /** A server moves this client to another one. */
  #onOpen(address: string): void {
    const choices = this.#destination.at(address);
    if (choices === undefined) {
      this.#moving.fail();
    } else {
      this.#moving.open(choices, (it) => this.#open(it));
    }
  }

  /** The connection has another socket from now on, and its queues are those of before. */
  #onMoved(socket: number): void {
    const carrier = this.#pump.carrierOf(socket)?.kind ?? "websocket";
    const { carriers, url } = this.#moving.onMoved(carrier);
    this.#destination.onMoved(carriers);
    this.#socket = socket;
    this.#publishedAt = -Infinity;
    const figures = this.#core.settings(socket);
    // That server may be lost already: `closed` is next.
    const settings = figures === undefined ? this.#settings : settingsOf(figures);
    if (settings !== undefined) {
      this.#settings = settings;
      this.#details.push({ moved: url, settings, carrier });
      this.#push(EVENT.moved, [0, 0, 0], NO_BYTES);
    }
  }

  #onConnected(event: CoreEvent): void {
    const settings = settingsOf(this.#core.settings(event.socket) ?? []);
    const carrier = this.#pump.carrierOf(event.socket)?.kind ?? "websocket";
    this.#settings = settings;
    this.#isConnected = true;
    this.#failed = undefined;
    this.#gates.clear();
    this.#waiting.clear();
    // A server that accepts every client and closes at once must not be contacted without a pause.
    this.#settling = this.#world.clock.after(SETTLED_MS, () => this.#backoff?.reset());
    this.#details.push({ settings, carrier });
    this.#push(EVENT.connected, [0, 0, 0], NO_BYTES);
  }

  #onClosed({ numbers, bytes, socket }: CoreEvent): void {
    const by = CLOSED_BY[numbers[1]] ?? "nobody";
    const close = { by, code: numbers[0], reason: textOf(bytes) };
    if (!this.#isConnected) {
      this.#failed = this.#pump.carrierOf(socket)?.kind;
    }
    this.#publish(true);
    this.#end(close);
  }

  /** A connection or an attempt has ended: the client waits for the next one, or has ended too. */
  #end(close: Close): void {
    if (this.#isOver) {
      return;
    }
    const wasAstray = this.#destination.onClosed(close, this.#isConnected);
    this.#socket = undefined;
    this.#isConnected = false;
    this.#settings = undefined;
    const race = this.#race;
    this.#race = undefined;
    race?.cancel();
    this.#moving.cancel();
    this.#asking?.cancel();
    this.#asking = undefined;
    this.#settling?.cancel();
    const isOver = this.#closing !== undefined || !(wasAstray || isTemporary(close));
    const retryIn = isOver ? undefined : this.#backoff?.next(noticeOf(close));
    this.#details.push({ close, retryIn });
    this.#push(EVENT.closed, [0, 0, 0], NO_BYTES);
    if (retryIn === undefined) {
      this.#isOver = true;
      this.#timer?.cancel();
      // The core's last datagrams, including its CLOSE, leave before the carrier is closed.
      this.#pump.soon();
    } else {
      this.#timer = this.#world.clock.after(retryIn, () => this.#begin());
    }
    this.#tell();
  }

  #stop(): void {
    this.#isOver = true;
    this.#world.onGone(this.#client);
    const race = this.#race;
    this.#race = undefined;
    race?.cancel();
    this.#moving.cancel();
    this.#timer?.cancel();
    this.#asking?.cancel();
    this.#settling?.cancel();
    this.#publishTimer?.cancel();
    this.#pump.stop();
  }

  #push(kind: number, numbers: readonly number[], bytes: Uint8Array): void {
    this.#eventBytes += bytes.length + ITEM_BYTES;
    this.#events.add([kind, ...numbers], bytes);
  }

  /** Counts a message on a channel that refuses when it is full: the page is told what is queued there. */
  #count(channel: number, bytes: number): void {
    const rule = this.#settings && ruleFor(this.#settings, channel);
    if (rule?.overflow !== "refuse") {
      return;
    }
    const gate = this.#gates.get(channel) ?? {
      channel,
      messages: 0,
      bytes: 0,
      takenMessages: 0,
      takenBytes: 0,
    };
    gate.takenMessages += 1;
    gate.takenBytes += bytes;
    this.#gates.set(channel, gate);
    this.#waiting.add(channel);
  }

  /** The changes of those channels. */
  #gateNews(): GateNews[] {
    const news: GateNews[] = [];
    for (const channel of this.#waiting) {
      const gate = this.#gates.get(channel);
      if (gate === undefined || this.#socket === undefined) {
        this.#waiting.delete(channel);
        continue;
      }
      const [messages, bytes] = this.#core.queued(this.#socket, channel);
      if (messages !== gate.messages || bytes !== gate.bytes || this.#takenBytes > 0) {
        Object.assign(gate, { messages, bytes });
        news.push({ ...gate });
      }
      if (messages === 0) {
        this.#waiting.delete(channel);
      }
    }
    return news;
  }

  /** Sends the changes to the page. */
  #tell(): void {
    const gates = this.#gateNews();
    const events = this.#events.take();
    if (events === undefined && gates.length === 0 && this.#takenBytes === 0) {
      return;
    }
    const news: News = {
      client: this.#client,
      events,
      details: this.#details,
      taken: this.#takenBytes,
      gates,
    };
    if (this.#isOver) {
      news.isOver = true;
    }
    this.#details = [];
    this.#takenBytes = 0;
    this.#post(news, buffersOf(events));
  }

  /** Publishes statistics, if it is time. */
  #publish(isLast = false): void {
    if (this.#socket === undefined || !this.#isConnected) {
      return;
    }
    const now = this.#world.clock.now();
    const wait = this.#publishedAt + PUBLISH_MS - now;
    if (wait > 0 && !isLast) {
      this.#publishTimer ??= this.#world.clock.after(wait, () => {
        this.#publishTimer = undefined;
        this.#publish();
      });
      return;
    }
    this.#publishTimer?.cancel();
    this.#publishTimer = undefined;
    const carrier = this.#pump.carrierOf(this.#socket);
    const figures = this.#core.statistics(this.#socket);
    if (figures === undefined || carrier === undefined) {
      return;
    }
    this.#publishedAt = now;
    if (this.#names.length === 0) {
      this.#names = this.#core.statisticsNames(this.#socket);
    }
    const serverTime = this.#core.serverTime(this.#pump.now(), this.#socket);
    const page = { ...carrier.counters };
    const at = this.#world.epochNow();
    const statistics = { at, names: this.#names, figures, carrier: carrier.kind, page, serverTime };
    this.#post({ client: this.#client, statistics }, []);
  }
}

/** A view into the core's memory as text. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.slice());
}
