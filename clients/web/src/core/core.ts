// The protocol's client (skipstone-web) with types: every call of the WebAssembly module is here, and no decision.

/** The functions of the module, as crates/skipstone-web/src/exports.rs has them. */
interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  skip_interface(): number;
  skip_input(bytes: number): number;
  skip_option(option: number, value: number): number;
  skip_begin(seedBytes: number): number;
  skip_select(core: number): void;
  skip_connect(now: number, carrier: number, packetBytesMax: number, tokenBytes: number): number;
  skip_connect_there(now: number, carrier: number, packetBytesMax: number): number;
  skip_move_failed(now: number): number;
  skip_datagram(now: number, socket: number, bytes: number): number;
  skip_writable(now: number, socket: number, isWritable: number): number;
  skip_packet_bytes_max(now: number, socket: number, bytes: number): number;
  skip_carrier_lost(now: number, socket: number, reasonBytes: number): number;
  skip_send(
    now: number,
    socket: number,
    channel: number,
    id: number,
    age: number,
    bytes: number,
    isAccepted: number,
  ): number;
  skip_flush(now: number): number;
  skip_close(now: number, socket: number, code: number, linger: number, reasonBytes: number): number;
  skip_timeout(now: number): number;
  skip_poll_timeout(): number;
  skip_poll_transmit(now: number): number;
  skip_poll_event(now: number): number;
  skip_poll_released(): number;
  skip_ask(now: number, socket: number, question: number): number;
  skip_queued(socket: number, channel: number): number;
  skip_statistics_names(socket: number): number;
  skip_figures(): number;
  skip_text(): number;
  skip_text_bytes(): number;
}

/** The interface that this file is written for. */
const INTERFACE = 3;
/**
 * Maximum number of clients that share a memory, in the order in which they begin. Browsers reserve 8 GB of address
 * space for each memory, and a page has 1 TB: with one memory each, 124 clients were the maximum. What an ended client
 * leaves behind is freed with the memory.
 */
const CLIENTS_MAX = 8;

export const CARRIER = { websocket: 0, webtransport: 1, webtransportStreams: 2 } as const;
export const OPTION = {
  handshakeTimeout: 0,
  followsServerTime: 1,
  bandwidthMax: 2,
  messageBytesMax: 3,
  windowBytes: 4,
  datagramBytesMax: 5,
  merging: 6,
  congestion: 7,
  followsMoves: 8,
} as const;
export const EVENT = {
  none: 0,
  connected: 1,
  message: 2,
  acknowledged: 3,
  givenUp: 4,
  closed: 5,
  /** A server moves the client to another one: its bytes are `HOST:PORT`. */
  open: 6,
  /** The client has been moved: its first number is its socket from now on. */
  moved: 7,
} as const;
const QUESTION = { settings: 0, statistics: 1, serverTime: 2 } as const;

/** The result of a refused call, as numbered in crates/skipstone-web/src/core.rs. */
export const REFUSAL = {
  notStarted: -1,
  unknownConnection: -2,
  badArgument: -3,
  full: -4,
  tokenTooLong: -5,
  notConnected: -6,
  noSuchChannel: -7,
  messageTooLong: -8,
  queueFull: -9,
  badConfig: -10,
  notMoving: -11,
} as const;

/** A polled event. Its bytes are a view into the module's memory, good until the next call. */
export interface CoreEvent {
  kind: number;
  socket: number;
  numbers: [number, number, number];
  bytes: Uint8Array<ArrayBuffer>;
}

/** Datagrams of one connection. The bytes are a view into the module's memory, good until the next call. */
export interface Transmit {
  socket: number;
  bytes: Uint8Array<ArrayBuffer>;
  segmentBytes: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A memory, and the code that works on it. */
class Instance {
  readonly exports: Exports;
  /** Clients that have begun in it. */
  clients = 0;
  /** The selected client. */
  selected = -1;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module).exports as Exports;
    if (this.exports.skip_interface() !== INTERFACE) {
      throw new Error("the WebAssembly module and the page are of different versions: rebuild both");
    }
  }
}

/**
 * Only the newest: others live as long as their clients. A module received by a message is a different object each
 * time.
 */
let newest: Instance | undefined;

function roomyInstance(module: WebAssembly.Module): Instance {
  if (newest === undefined || newest.clients >= CLIENTS_MAX) {
    newest = new Instance(module);
  }
  return newest;
}

/** One client of the protocol. Times are in µs of the caller's own clock. */
export class Core {
  readonly #instance: Instance;
  readonly #number: number;
  #memory: Uint8Array<ArrayBuffer>;
  #figures: Float64Array<ArrayBuffer> = new Float64Array(0);

  /** Throws if an option is out of its range. The seed has 32 bytes, from `crypto.getRandomValues`. */
  constructor(
    module: WebAssembly.Module,
    seed: Uint8Array,
    options: ReadonlyMap<number, number> = new Map(),
  ) {
    const instance = roomyInstance(module);
    instance.clients += 1;
    instance.selected = -1;
    this.#instance = instance;
    this.#number = -1;
    this.#memory = this.#view();
    for (const [option, value] of options) {
      if (this.#exports.skip_option(option, value) < 0) {
        throw new RangeError(`option ${option} cannot be ${value}`);
      }
    }
    this.#write(seed);
    const begun = this.#exports.skip_begin(seed.length);
    if (begun < 0) {
      throw new RangeError(begun === REFUSAL.badConfig ? this.#text() : `the core does not begin (${begun})`);
    }
    this.#number = begun;
    instance.selected = begun;
  }

  /** The module's functions, for this client. */
  get #exports(): Exports {
    const { exports, selected } = this.#instance;
    if (selected !== this.#number && this.#number >= 0) {
      exports.skip_select(this.#number);
      this.#instance.selected = this.#number;
    }
    return exports;
  }

  /** Returns the socket of a new connection, or a refusal. */
  connect(now: number, carrier: number, packetBytesMax: number, token: Uint8Array): number {
    this.#write(token);
    return this.#exports.skip_connect(now, carrier, packetBytesMax, token.length);
  }

  /** Begins the connection to the server to which the client is moved. Returns its socket, or a refusal. */
  connectThere(now: number, carrier: number, packetBytesMax: number): number {
    return this.#exports.skip_connect_there(now, carrier, packetBytesMax);
  }

  /** No carrier to that server can be opened: the client stays. */
  moveFailed(now: number): void {
    this.#exports.skip_move_failed(now);
  }

  datagram(now: number, socket: number, datagram: Uint8Array): number {
    this.#write(datagram);
    return this.#exports.skip_datagram(now, socket, datagram.length);
  }

  setWritable(now: number, socket: number, isWritable: boolean): void {
    this.#exports.skip_writable(now, socket, Number(isWritable));
  }

  setPacketBytesMax(now: number, socket: number, bytes: number): void {
    this.#exports.skip_packet_bytes_max(now, socket, bytes);
  }

  carrierLost(now: number, socket: number, reason: string): void {
    const bytes = encoder.encode(reason);
    this.#write(bytes);
    this.#exports.skip_carrier_lost(now, socket, bytes.length);
  }

  /** Queues a message; a refusal is the reason why it was not accepted. */
  send(now: number, socket: number, channel: number, id: number, payload: Uint8Array, age = 0): number {
    this.#write(payload);
    return this.#exports.skip_send(now, socket, channel, id, age, payload.length, 0);
  }

  /** Queues a message that was already accepted: errors are reported by an event. */
  sendAccepted(
    now: number,
    socket: number,
    channel: number,
    id: number,
    payload: Uint8Array,
    age: number,
  ): number {
    this.#write(payload);
    return this.#exports.skip_send(now, socket, channel, id, age, payload.length, 1);
  }

  flush(now: number): void {
    this.#exports.skip_flush(now);
  }

  close(now: number, socket: number, code: number, reason: string, linger: number): number {
    const bytes = encoder.encode(reason);
    this.#write(bytes);
    return this.#exports.skip_close(now, socket, code, linger, bytes.length);
  }

  /** Throws if the memory is of no use any more: another client of it has trapped. */
  timeout(now: number): void {
    if (this.#exports.skip_timeout(now) === REFUSAL.notStarted) {
      throw new Error("the protocol failed in another client of this page");
    }
  }

  /** When `timeout` is due: in the past if there is work now, infinity if never. */
  pollTimeout(): number {
    return this.#exports.skip_poll_timeout();
  }

  pollTransmit(now: number): Transmit | undefined {
    if (this.#exports.skip_poll_transmit(now) !== 1) {
      return undefined;
    }
    const [socket = 0, at = 0, bytes = 0, segmentBytes = 0] = this.#read(4);
    return { socket, bytes: this.#memory.subarray(at, at + bytes), segmentBytes };
  }

  pollEvent(now: number): CoreEvent | undefined {
    const kind = this.#exports.skip_poll_event(now);
    if (kind <= 0) {
      return undefined;
    }
    const [socket = 0, at = 0, bytes = 0, first = 0, second = 0, third = 0] = this.#read(6);
    return { kind, socket, numbers: [first, second, third], bytes: this.#memory.subarray(at, at + bytes) };
  }

  /** A socket whose carrier can be closed. */
  pollReleased(): number | undefined {
    const socket = this.#exports.skip_poll_released();
    return socket < 0 ? undefined : socket;
  }

  settings(socket: number): number[] | undefined {
    return this.#ask(0, socket, QUESTION.settings);
  }

  statistics(socket: number): number[] | undefined {
    return this.#ask(0, socket, QUESTION.statistics);
  }

  serverTime(now: number, socket: number): number[] | undefined {
    return this.#ask(now, socket, QUESTION.serverTime);
  }

  /** The number and bytes of the messages that are queued on a channel or in flight. */
  queued(socket: number, channel: number): [number, number] {
    const [messages = 0, bytes = 0] = this.#exports.skip_queued(socket, channel) === 2 ? this.#read(2) : [];
    return [messages, bytes];
  }

  statisticsNames(socket: number): string[] {
    return this.#exports.skip_statistics_names(socket) < 0 ? [] : this.#text().split(" ");
  }

  #ask(now: number, socket: number, question: number): number[] | undefined {
    const count = this.#exports.skip_ask(now, socket, question);
    return count < 0 ? undefined : Array.from(this.#read(count));
  }

  /** Puts bytes where the next call reads them. */
  #write(bytes: Uint8Array): void {
    const at = this.#exports.skip_input(bytes.length);
    this.#renew();
    if (at === 0) {
      throw new RangeError(`${bytes.length} bytes are more than the module takes at once`);
    }
    this.#memory.set(bytes, at);
  }

  #read(count: number): Float64Array<ArrayBuffer> {
    this.#renew();
    const at = this.#exports.skip_figures();
    if (
      this.#figures.buffer !== this.#memory.buffer ||
      this.#figures.byteOffset !== at ||
      this.#figures.length < count
    ) {
      this.#figures = new Float64Array(this.#memory.buffer, at, count);
    }
    return this.#figures;
  }

  #text(): string {
    this.#renew();
    const at = this.#exports.skip_text();
    return decoder.decode(this.#memory.slice(at, at + this.#exports.skip_text_bytes()));
  }

  /** Memory that has grown is another buffer. */
  #renew(): void {
    if (this.#memory.byteLength === 0 || this.#memory.buffer !== this.#exports.memory.buffer) {
      this.#memory = this.#view();
    }
  }

  #view(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer);
  }
}
