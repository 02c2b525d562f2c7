// Converts the URL and the options of an application to the parameters of the driver and the core.

import { OPTION } from "./core/core";
import { ConnectError } from "./errors";
import type { CarrierChoice, ClientOptions, DriverOptions, Reconnect } from "./options";

const RECONNECT: Required<Reconnect> = { pauseMin: 250, pauseMax: 30_000, attemptsMax: Infinity };
const HEAD_START = 300;
const HANDSHAKE_TIMEOUT = 10_000;
const TOKEN_TIMEOUT = 30_000;
const QUEUE_BYTES_MAX = 16 * 1_048_576;
const QUEUE_BYTES_MIN = 1_048_576;
const DEFAULT_PORT = "7777";
/** SHA-256. */
const HASH_BYTES = 32;

/** Everything that the driver needs; throws a `ConnectError` that names what is invalid. */
export function driverOptions(url: string, options: ClientOptions): DriverOptions {
  const {
    headStart = HEAD_START,
    handshakeTimeout = HANDSHAKE_TIMEOUT,
    tokenTimeout = TOKEN_TIMEOUT,
    queueBytesMax = QUEUE_BYTES_MAX,
  } = options;
  check("headStart", headStart, 0, 60_000);
  check("handshakeTimeout", handshakeTimeout, 1, 3_600_000);
  check("tokenTimeout", tokenTimeout, 1, 3_600_000);
  check("queueBytesMax", queueBytesMax, QUEUE_BYTES_MIN, 2 ** 31);
  return {
    carriers: carriers(url, options),
    headStart,
    handshakeTimeout,
    tokenTimeout,
    queueBytesMax,
    reconnect: options.reconnect === false ? undefined : reconnect(options.reconnect),
    core: coreOptions(options, handshakeTimeout),
  };
}

function reconnect(chosen: Reconnect = {}): Required<Reconnect> {
  const all = { ...RECONNECT, ...chosen };
  check("reconnect.pauseMin", all.pauseMin, 1, 3_600_000);
  check("reconnect.pauseMax", all.pauseMax, all.pauseMin, 86_400_000);
  check("reconnect.attemptsMax", all.attemptsMax, 0, Infinity);
  return all;
}

function carriers(url: string, options: ClientOptions): CarrierChoice[] {
  const target = parse(url);
  const { serverCertificateHashes: given = [] } = options;
  // Those of a function are requested before each attempt.
  const hashes = typeof given === "function" ? [] : given.map(hashOf);
  if (target.hash !== "") {
    hashes.push(hashOf(fingerprintOf(target.hash)));
    target.hash = "";
  }
  if (target.protocol !== "https:") {
    if (hashes.length > 0 || typeof given === "function") {
      throw new ConnectError("a WebSocket cannot check a certificate's hash: use https://, or no hash");
    }
    return [{ kind: "websocket", url: target.href }];
  }
  const session: CarrierChoice = { kind: "webtransport", url: target.href, hashes };
  if (options.fallback === false) {
    return [session];
  }
  if (options.fallback === undefined) {
    // Both schemes leave out the same port.
    return [session, { kind: "websocket", url: target.href.replace(/^https:/, "wss:") }];
  }
  const other = parse(options.fallback);
  if (other.protocol === "https:") {
    throw new ConnectError("the fallback is a WebSocket: its URL begins with wss:// or ws://");
  }
  return [session, { kind: "websocket", url: other.href }];
}

const SCHEMES: readonly string[] = ["https:", "wss:", "ws:"];

function parse(url: string): URL {
  let target: URL;
  try {
    target = new URL(url);
  } catch {
    throw new ConnectError(`"${url}" is no URL; one looks like https://example.org:7777`);
  }
  if (!SCHEMES.includes(target.protocol)) {
    throw new ConnectError(
      `a page cannot connect to "${url}": use https:// (WebTransport, else a WebSocket), wss:// or ws://`,
    );
  }
  if (!/:\d+$/.test(url.replace(/^[a-z]+:\/\//, "").split(/[/?#]/)[0] ?? "")) {
    target.port = DEFAULT_PORT;
  }
  return target;
}

function fingerprintOf(fragment: string): string {
  const found = /^#sha256=(.+)$/.exec(fragment);
  if (found?.[1] === undefined) {
    throw new ConnectError(
      `"${fragment}" is no fingerprint; one looks like #sha256= and 64 hexadecimal digits`,
    );
  }
  return found[1];
}

/** A certificate's hash as bytes; throws a `ConnectError` if it is invalid. */
export function hashOf(hash: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const digits = typeof hash === "string" ? hash.replaceAll(":", "") : "";
  if (typeof hash === "string" && !/^[0-9a-fA-F]{64}$/.test(digits)) {
    throw new ConnectError(
      "a certificate's hash has 64 hexadecimal digits, with or without colons between them",
    );
  }
  const bytes =
    typeof hash === "string"
      ? Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
      : new Uint8Array(hash);
  if (bytes.length !== HASH_BYTES) {
    throw new ConnectError(`a certificate's hash has ${HASH_BYTES} bytes, not ${bytes.length}`);
  }
  return bytes;
}

function coreOptions(options: ClientOptions, handshakeTimeout: number): (readonly [number, number])[] {
  const { bandwidthMax, limits = {}, merging, congestion, followsServerTime } = options;
  const core: (readonly [number, number])[] = [[OPTION.handshakeTimeout, handshakeTimeout * 1_000]];
  const set = (option: number, value: number | undefined): void => {
    if (value !== undefined) {
      core.push([option, value]);
    }
  };
  if (bandwidthMax !== undefined) {
    check("bandwidthMax", bandwidthMax, 1_000, 2 ** 50);
  }
  for (const [name, value] of Object.entries(limits)) {
    check(`limits.${name}`, value, 1, name === "datagramBytesMax" ? 65_507 : 2 ** 32 - 1);
  }
  set(OPTION.bandwidthMax, bandwidthMax);
  set(OPTION.messageBytesMax, limits.messageBytesMax);
  set(OPTION.windowBytes, limits.windowBytes);
  set(OPTION.datagramBytesMax, limits.datagramBytesMax);
  set(OPTION.followsServerTime, followsServerTime === undefined ? undefined : Number(followsServerTime));
  set(OPTION.congestion, congestion === "off" ? 0 : undefined);
  set(OPTION.merging, mergingOf(merging));
  set(OPTION.followsMoves, Number(options.reconnect !== false));
  return core;
}

function mergingOf(merging: ClientOptions["merging"]): number | undefined {
  if (typeof merging === "object") {
    check("merging.after", merging.after, 0.001, 86_400_000);
    return merging.after * 1_000;
  }
  return merging === "flush" ? Infinity : merging === "immediate" ? 0 : undefined;
}

function check(name: string, value: number, least: number, most: number): void {
  // What is not a number is neither.
  if (!(value >= least && value <= most)) {
    throw new ConnectError(`${name} is ${value}: it is ${least} to ${most}`);
  }
}
