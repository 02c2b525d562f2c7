// Errors of calls, with texts that name the cause and the remedy.

/** Why a message was not accepted. */
export type SendRefusal =
  /** The connection is not established: send between `connected` and `closed`. */
  | "notConnected"
  /** No rule of the server's table holds this channel, or the server moves its clients by it. */
  | "noSuchChannel"
  /** The message is longer than the settings, or the channel's queue, allow. */
  | "tooLong"
  /** The channel's queue is full, because the path carries less than is sent. */
  | "queueFull"
  /** More is queued for the worker than `queueBytesMax` allows. */
  | "workerBusy";

/** A message was not accepted; here it is again, with the reason. */
export class SendError extends Error {
  override readonly name = "SendError";
  readonly reason: SendRefusal;
  readonly channel: number;
  readonly payload: Uint8Array;

  constructor(reason: SendRefusal, channel: number, payload: Uint8Array, bytesMax?: number) {
    super(describe(reason, channel, payload.length, bytesMax));
    this.reason = reason;
    this.channel = channel;
    this.payload = payload;
  }
}

/** An argument, the URL or an option, cannot be. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
}

/** The text of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function describe(reason: SendRefusal, channel: number, bytes: number, bytesMax: number | undefined): string {
  switch (reason) {
    case "notConnected":
      return "the connection does not stand: send between `connected` and `closed`, and not after close()";
    case "noSuchChannel":
      return `channel ${channel} has no rule: add one to the channel table of the server's settings, or use another channel`;
    case "tooLong":
      return `the message has ${bytes} bytes and this channel takes ${bytesMax} at most: split it, or raise the server's settings`;
    case "queueFull":
      return "the channel's queue is full, because the path carries less than is sent: send less, or try again later";
    case "workerBusy":
      return "the queue to the worker is full: send less, or try again at the next tick";
  }
}
