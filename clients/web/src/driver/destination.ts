// Where and when a client connects next: WIRE.md section 8.1, the notice of a restarting server to its clients.

import { closeCode, type Close } from "../close";
import type { CarrierChoice } from "../options";

/** When and where the clients of a server that restarts find it again. */
export interface RestartNotice {
  /** Milliseconds until the first client returns, and the interval over which clients return. */
  after: number;
  spread: number;
  /** Host and port of another server. */
  at?: string;
}

/** Shortest and longest pause, in milliseconds, for any value of a server. */
export const PAUSE_MIN = 100;
export const PAUSE_MAX = 600_000;
/** An unreadable reason means one to three seconds, at the same address. */
const UNKNOWN: RestartNotice = { after: 1_000, spread: 2_000 };
const ADDRESS = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):0*([1-9][0-9]{0,4})$/;
/** Longest name of a host (RFC 1035), with brackets and a port. */
const ADDRESS_LENGTH_MAX = 263;

/** The notice of a connection that a restarting server has closed; `undefined` for any other end. */
export function noticeOf(close: Close): RestartNotice | undefined {
  return close.code === closeCode.restart && close.by === "peer"
    ? (parse(close.reason) ?? UNKNOWN)
    : undefined;
}

function parse(reason: string): RestartNotice | undefined {
  const fields = (reason.split(";")[0] ?? "").split(/\s+/);
  const range = /^retry=([0-9]{1,15})\.\.([0-9]{1,15})$/.exec(
    fields.find((field) => field.startsWith("retry=")) ?? "",
  );
  const at = fields.find((field) => field.startsWith("at="))?.slice(3);
  const [from, to] = [Number(range?.[1]), Number(range?.[2])];
  if (range === null || to < from || (at !== undefined && !isAddress(at))) {
    return undefined;
  }
  const times = { after: Math.min(from, PAUSE_MAX), spread: Math.min(to - from, PAUSE_MAX) };
  return at === undefined ? times : { ...times, at };
}

function isAddress(text: string): boolean {
  const port = ADDRESS.exec(text)?.[1];
  return port !== undefined && Number(port) < 65_536 && text.length <= ADDRESS_LENGTH_MAX;
}

/**
 * The carriers of the server that the page named, or of the one that this server named when it restarted, or to which
 * it moved the client.
 */
export class Destination {
  readonly #home: readonly CarrierChoice[];
  #carriers: readonly CarrierChoice[];

  constructor(home: readonly CarrierChoice[]) {
    this.#home = home;
    this.#carriers = home;
  }

  get carriers(): readonly CarrierChoice[] {
    return this.#carriers;
  }

  /** The carriers of another server, `HOST:PORT`; `undefined` if that is no address. */
  at(address: string): readonly CarrierChoice[] | undefined {
    return isAddress(address)
      ? this.#carriers.map((choice) => ({ ...choice, url: moved(choice.url, address) }))
      : undefined;
  }

  /** The client was moved to the server of these carriers while it was connected. */
  onMoved(carriers: readonly CarrierChoice[]): void {
    this.#carriers = carriers;
  }

  /**
   * A connection, or an attempt, has ended. True if the client had been redirected and was not accepted there: the next
   * connection goes back.
   */
  onClosed(close: Close, wasConnected: boolean): boolean {
    const wasAstray = !wasConnected && this.#carriers !== this.#home;
    if (wasAstray) {
      this.#carriers = this.#home;
    }
    // Before a connection is established, anybody may have sent it.
    const at = wasConnected ? noticeOf(close)?.at : undefined;
    this.#carriers = (at === undefined ? undefined : this.at(at)) ?? this.#carriers;
    return wasAstray;
  }
}

/** The same scheme and path at another host and port. */
function moved(url: string, at: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*/i, (_, scheme: string) => scheme + at);
}
