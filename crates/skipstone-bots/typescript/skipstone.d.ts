/**
 * What scripts of `skipstone bots` find, API 1; types/skipstone.d.luau says the same to luau-lsp. Times are in seconds;
 * those that a script sees count from the beginning of its bot.
 */

/** Bytes, as Luau has them: fast, and of a fixed size. */
interface LuauBuffer {
  readonly __luauBuffer: never;
}

type Delivery = "reliable" | "reliable-unordered" | "reliable-sequenced" | "sequenced" | "unreliable";
type Cause = "closed" | "by-server" | "refused" | "timed-out" | "malformed" | "unreachable";

interface SendOptions {
  /**
   * When the message should have been sent, such as the time that `tick` gets. The run is invalid where this machine
   * sent too late.
   */
  due?: number;
  delivery?: Delivery;
}

/** A bot, whose messages are buffers, or strings with `text: true`. Assign functions to its callbacks. */
interface Bot<Data = LuauBuffer> {
  /** 0 for the first bot of the run. */
  readonly number: number;
  readonly is_connected: boolean;

  /** When the bot begins; it may wait. Without one, the bot connects at once. */
  start?(): void;
  /** After each connection; it may wait. */
  connected?(): void;
  /** For each message that no function waits for. */
  message?(channel: number, data: Data): void;
  /** At the rate of `tick`, while connected. */
  tick?(now: number): void;
  /** After the end of a connection; it may wait. */
  closed?(cause: Cause, text: string): void;

  /** Connects, and returns once that has succeeded or failed. */
  connect(url?: string): LuaMultiReturn<[true] | [false, Cause, string]>;
  /** Ends the connection; `closed` follows. */
  close(): void;
  send(channel: number, data: LuauBuffer | string, options?: SendOptions): void;
  /**
   * The next message that fits: any, one with this first byte, one with this beginning, or one for which the function
   * is true.
   */
  wait(
    what?: number | string | ((this: void, channel: number, data: Data) => boolean),
    timeout?: number,
  ): LuaMultiReturn<[Data, number] | [undefined, "timeout"] | [undefined, "closed", string]>;
  sleep(seconds: number): void;
  /** Sleeps for a random time, as a person thinks. */
  think(least: number, most: number): void;
  /** Runs a function beside the others; it may wait. */
  spawn<Arguments extends unknown[]>(job: (this: void, ...args: Arguments) => void, ...args: Arguments): void;
  /**
   * Reads nothing from the socket for this many seconds (at most 3600; 0 reads again), as a slow client: what the
   * server sends fills the system's buffers. Does not wait. What was read before still arrives, and the bot sends as
   * ever.
   */
  pause_reading(seconds: number): void;
  /** The round-trip time, where the protocol estimates it. */
  rtt(): number | undefined;
}

interface Declaration {
  api: 1;
  /** Where the bot connects; the command line comes first. */
  connect?: string;
  /** Calls of `tick` in a second. */
  tick?: number;
  /** Whether messages arrive as strings, and not as buffers. */
  text?: boolean;
}

type Stage =
  | { to: number; over?: string | number }
  | { hold: string | number }
  | { arrive: string; over: string | number };

interface Options {
  clients?: number;
  duration?: string | number;
  ramp?: string | number;
  stages?: Stage[];
  /** `["spawn_ms.p99<200ms"]` or `{ "spawn_ms.p99": "<200ms" }` */
  thresholds?: string[] | Record<string, string>;
}

/** @noSelf */
declare namespace skipstone {
  const api: 1;
  /** Describes the bot; once, at the top of the script. */
  function bot(declaration: Declaration & { text: true }): Bot<string>;
  function bot(declaration: Declaration & { text?: false }): Bot;
  function options(options: Options): void;
  /** The time now. */
  function now(): number;
}

interface Trend {
  add(value: number): void;
}
interface Rate {
  add(holds: boolean): void;
}
interface Counter {
  add(value: number): void;
}
interface Gauge {
  set(value: number): void;
}
interface Requests<Key> {
  /** A request was sent, due at that time; the answer is known by the key. */
  sent(key: Key, due?: number): void;
  /** The answer has come. Returns the time it took, or undefined if no request waits for it. */
  got(key: Key): number | undefined;
}

/** @noSelf */
declare namespace metrics {
  function trend(name: string): Trend;
  function rate(name: string): Rate;
  function counter(name: string): Counter;
  function gauge(name: string): Gauge;
  /** A trend `name` in milliseconds, and a rate `name_answered` of answers within the timeout (5 s). */
  function requests<Key extends number | string = number>(name: string, timeout?: number): Requests<Key>;
}

/** Records whether something holds that should always hold, and returns it. */
declare function check<T>(this: void, name: string, holds: T): T;
/** Ends the bot with an error if something does not hold. */
declare function assert<T>(this: void, holds: T, why?: string): asserts holds;
declare function print(this: void, ...values: unknown[]): void;

/**
 * Files of the script's folder, which all bots share and cannot change.
 * @noSelf
 */
declare namespace data {
  function text(path: string): string;
  function lines(path: string): readonly string[];
  function json<T = unknown>(path: string): Readonly<T>;
}

/** @noSelf */
declare namespace json {
  function encode(value: unknown): string;
  function decode<T = unknown>(text: string | LuauBuffer): T;
}

interface HttpOptions {
  headers?: Record<string, string | number>;
  /** The body; or a value, which is sent as JSON with its content type. */
  body?: string | LuauBuffer;
  json?: unknown;
  /** Seconds from the call to the end of the answer (30), and bytes of its body (1 MiB). */
  timeout?: number;
  max?: number;
  /** Of https: whose certificates are trusted. `https://host/#sha256=...` pins one. */
  trust?: "system" | "anyone";
}
interface HttpRequestOptions extends HttpOptions {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
}
/** headers: by their names in lower case; several of a name are joined by ", ", those of set-cookie by a line's end. */
interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}
type HttpAnswer = LuaMultiReturn<[HttpResponse] | [undefined, string]>;

/**
 * HTTP/1.1, for logins and lobbies. Each call waits for its answer, whatever its status: undefined and the reason if
 * there is none. A bot's connections are its own and kept alive. Redirects are not followed, and cookies not kept. The
 * run has the trend http_ms and the rate http_failed.
 * @noSelf
 */
declare namespace http {
  function get(url: string, options?: HttpOptions): HttpAnswer;
  function post(url: string, options?: HttpOptions): HttpAnswer;
  function request(url: string, options?: HttpRequestOptions): HttpAnswer;
}

/** @noSelf */
interface ProtobufSchema {
  /** A message by its name, with or without the file's package. Enums are their names, bytes a buffer or a string. */
  encode(message: string, value: object): LuauBuffer;
  /**
   * Fields without presence have their default, those with presence are undefined where they are absent; lists and maps
   * are tables always. Bytes that are no such message are an error.
   */
  decode<T = unknown>(message: string, data: LuauBuffer | string): T;
}

/**
 * Messages by a .proto file of the script's folder, and the files that it imports.
 * @noSelf
 */
declare namespace protobuf {
  function load(
    path: string,
    /** What numbers of 64 bits become: a number where it is exact and else a text of its digits, or a text always. */
    options?: { int64?: "number" | "text" },
  ): ProtobufSchema;
}

/**
 * Random numbers of the run's seed; `Math.random()` is the same as `math.random()`.
 * @noSelf
 */
declare namespace math {
  function random(): number;
  /** A whole number, both ends included. */
  function random(low: number, high: number): number;
}

/**
 * Luau's buffers. Places are in bytes, from 0.
 * @noSelf
 */
declare namespace buffer {
  function create(size: number): LuauBuffer;
  function fromstring(text: string): LuauBuffer;
  function tostring(b: LuauBuffer): string;
  function len(b: LuauBuffer): number;
  function copy(target: LuauBuffer, at: number, source: LuauBuffer, from?: number, count?: number): void;
  function fill(b: LuauBuffer, at: number, value: number, count?: number): void;
  function readi8(b: LuauBuffer, at: number): number;
  function readu8(b: LuauBuffer, at: number): number;
  function readi16(b: LuauBuffer, at: number): number;
  function readu16(b: LuauBuffer, at: number): number;
  function readi32(b: LuauBuffer, at: number): number;
  function readu32(b: LuauBuffer, at: number): number;
  function readf32(b: LuauBuffer, at: number): number;
  function readf64(b: LuauBuffer, at: number): number;
  function readstring(b: LuauBuffer, at: number, count: number): string;
  function writei8(b: LuauBuffer, at: number, value: number): void;
  function writeu8(b: LuauBuffer, at: number, value: number): void;
  function writei16(b: LuauBuffer, at: number, value: number): void;
  function writeu16(b: LuauBuffer, at: number, value: number): void;
  function writei32(b: LuauBuffer, at: number, value: number): void;
  function writeu32(b: LuauBuffer, at: number, value: number): void;
  function writef32(b: LuauBuffer, at: number, value: number): void;
  function writef64(b: LuauBuffer, at: number, value: number): void;
  function writestring(b: LuauBuffer, at: number, text: string, count?: number): void;
}
