// The options of an application.

/** The first message of a client, by which the server decides whether to let it in: 1,024 bytes at most. */
export type Token = Uint8Array | string;

/** Certificates by their SHA-256, each as 32 bytes or 64 hexadecimal digits, with or without colons between them. */
export type CertificateHashes = readonly (Uint8Array | string)[];

/** How to connect again. Times are in milliseconds. */
export interface Reconnect {
  /** The first pause; it doubles with each failure. A random part of up to a half is subtracted. Default 250. */
  pauseMin?: number;
  /** The longest pause. Default 30,000. */
  pauseMax?: number;
  /** Maximum number of consecutive failed attempts. Default unlimited. */
  attemptsMax?: number;
}

/** Options of a client. Times are in milliseconds. Whatever is missing has the default of a native client. */
export interface ClientOptions {
  /**
   * By it the server decides whether to accept the client; a function is called before each attempt. An attempt for
   * which it throws has failed, and the next one follows according to `reconnect`. Default empty.
   */
  token?: Token | (() => Token | Promise<Token>);
  /** The limit for a token, and for certificate hashes, that are promised. Default 30,000. */
  tokenTimeout?: number;
  /**
   * SHA-256 of the server's certificate, each as 32 bytes or 64 hexadecimal digits: servers without a certificate of a
   * public authority, over WebTransport. A fingerprint in the URL (`#sha256=…`) is one of them. Such certificates are
   * valid for days, so a page that stays open passes a function, which is called before each attempt like the one for
   * the token.
   */
  serverCertificateHashes?: CertificateHashes | (() => CertificateHashes | Promise<CertificateHashes>);
  /**
   * The WebSocket to try next to an `https://` URL; default `wss://` with the same host, port and path; `false` for
   * none.
   */
  fallback?: string | false;
  /** The start of WebTransport over the fallback. Default 300. */
  headStart?: number;
  /**
   * Whether, and how, to connect again after a connection was lost, or a server was full or restarted; and whether a
   * server can move this client to another one while it plays. Default yes.
   */
  reconnect?: Reconnect | false;
  /** The limit for opening a carrier, and again for the handshake. Default 10,000. */
  handshakeTimeout?: number;
  /** Whether to follow the server's clock, for `serverTime`. Default yes. */
  followsServerTime?: boolean;
  /** Bytes per second that this client sends at most, at least 1,000. Default without limit. */
  bandwidthMax?: number;
  /** Limits on what this client accepts, regardless of the server's settings. */
  limits?: { messageBytesMax?: number; windowBytes?: number; datagramBytesMax?: number };
  /** When messages are sent; default as the server's settings say. */
  merging?: "immediate" | "flush" | { after: number };
  /** The congestion controller, on WebTransport. Default `"delayAware"`. */
  congestion?: "delayAware" | "off";
  /** Maximum bytes queued in each direction between the page and the worker. Default 16 MiB, at least 1 MiB. */
  queueBytesMax?: number;
  /**
   * Starts a worker for this client from the package's file (`skipstone/worker`), for pages that allow no `blob:`
   * worker. Without it all clients of a page share one, which is part of the module.
   */
  worker?: () => Worker;
}

/** Parameters of the driver; they can be posted to a worker. */
export interface DriverOptions {
  carriers: readonly CarrierChoice[];
  headStart: number;
  reconnect: Required<Reconnect> | undefined;
  handshakeTimeout: number;
  tokenTimeout: number;
  queueBytesMax: number;
  /** Options of the core, by number. */
  core: readonly (readonly [number, number])[];
}

/** A carrier to try, the best first. */
export type CarrierChoice =
  | { kind: "webtransport"; url: string; hashes: readonly Uint8Array<ArrayBuffer>[] }
  | { kind: "websocket"; url: string };
