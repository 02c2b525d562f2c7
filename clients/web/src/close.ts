// How connections end.

/** Who ended a connection: this side, the server, or neither (it fell silent, or its carrier broke). */
export type ClosedBy = "local" | "peer" | "nobody";

/** How a connection ended. */
export interface Close {
  by: ClosedBy;
  /** See `closeCode`; those below 1,000 are the application's own. */
  code: number;
  /** For people. */
  reason: string;
}

/** Close codes of the protocol (WIRE.md section 8). */
export const closeCode = {
  /** The application closed without a code of its own. */
  none: 0,
  /** The server shuts down. */
  shutdown: 1_000,
  /** The application refused the client. */
  refused: 1_001,
  /** The application removed the client. */
  kicked: 1_002,
  /** A channel's queue was full, and its rule is to disconnect. */
  queueOverflow: 1_003,
  /** One side broke the protocol. */
  protocol: 1_004,
  /** The server has as many connections as it may. */
  full: 1_005,
  /** The handshake did not end in time. */
  handshakeTimeout: 1_006,
  /** Nothing was heard for the idle timeout. */
  idleTimeout: 1_007,
  /** The carrier broke. */
  carrierLost: 1_008,
  /** Client and server have no version in common. */
  noCommonVersion: 1_009,
  /** The server could not be authenticated. */
  security: 1_010,
  /** Client and server have no suite in common. */
  noCommonSuite: 1_011,
  /** No carrier could be opened. */
  unreachable: 1_012,
  /** The server restarts. The reason says when to come back, and where to: a client that reconnects follows it. */
  restart: 1_013,
  /** One side held more of the other's memory than it may. */
  memory: 1_016,
} as const;

/** Whether another attempt is worth its while: nobody ended the connection, or the server is full or restarts. */
export function isTemporary(close: Close): boolean {
  const codes: number[] = [closeCode.shutdown, closeCode.full, closeCode.restart];
  return close.by === "nobody" || codes.includes(close.code);
}
