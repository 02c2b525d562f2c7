// How connections end.

/** Which side ended a connection: this side, the server, or neither (it stopped answering, or its carrier failed). */
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
  // catalogue: close codes
  /** Closed by the application without a code of its own. */
  none: 0,
  /** The server shuts down. */
  shutdown: 1_000,
  /** The application refused the client. */
  refused: 1_001,
  /** The application removed the peer. */
  kicked: 1_002,
  /** A channel's queue was full, and its rule is to disconnect. */
  queueOverflow: 1_003,
  /** The peer violated the protocol. */
  protocol: 1_004,
  /** The server is full, or the client's network has its maximum number of players. */
  full: 1_005,
  /** The handshake timed out (local: never sent). */
  handshakeTimeout: 1_006,
  /** Nothing arrived for the idle timeout (local). */
  idleTimeout: 1_007,
  /** The carrier was lost: the stream that carried the connection broke (local). */
  carrierLost: 1_008,
  /** Client and server have no protocol version in common (local). */
  noCommonVersion: 1_009,
  /** The encrypted handshake failed, for example because of an untrusted certificate (local, or in REFUSE). */
  security: 1_010,
  /** No common suite: one side requires encryption and the other has none (in REFUSE). */
  noCommonSuite: 1_011,
  /** The server's name has no address, or none of its addresses can be reached (local). */
  unreachable: 1_012,
  /** The server restarts; the reason says when and where to connect again (WIRE.md section 8.1). */
  restart: 1_013,
  /** The peer made this side hold more memory than allowed, or the most of all peers when memory was short. */
  memory: 1_016,
  // catalogue: end
} as const;

/** Whether another attempt makes sense: neither side closed the connection, or the server is full or restarts. */
export function isTemporary(close: Close): boolean {
  const codes: number[] = [closeCode.shutdown, closeCode.full, closeCode.restart];
  return close.by === "nobody" || codes.includes(close.code);
}
