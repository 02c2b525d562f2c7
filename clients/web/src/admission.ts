// Whether a message can be accepted, known at the call: by the server's rules, and by the queues of channels that
// refuse when they are full.

import { SendError } from "./errors";
import { ITEM_BYTES, type GateNews } from "./link/messages";
import { ruleFor, type ServerSettings } from "./settings";

/** A channel that refuses when it is full. */
interface Gate {
  /** Messages and bytes accepted since the connection was established. */
  messages: number;
  bytes: number;
  /** Of these, what the worker has taken, and what is queued there. */
  taken: GateNews;
}

const NOTHING: GateNews = { channel: 0, messages: 0, bytes: 0, takenMessages: 0, takenBytes: 0 };

export class Admission {
  readonly #queueBytesMax: number;
  /** `undefined` while the connection is not established. */
  #settings: ServerSettings | undefined;
  /** Bytes on their way to the worker. */
  #bytes = 0;
  readonly #gates = new Map<number, Gate>();

  constructor(queueBytesMax: number) {
    this.#queueBytesMax = queueBytesMax;
  }

  get settings(): ServerSettings | undefined {
    return this.#settings;
  }

  get bytes(): number {
    return this.#bytes;
  }

  open(settings: ServerSettings): void {
    this.#settings = settings;
    this.#gates.clear();
  }

  /** The connection is to another server now, and its queues stay. */
  update(settings: ServerSettings): void {
    this.#settings &&= settings;
  }

  close(): void {
    this.#settings = undefined;
  }

  /** Accepts a message, or throws. */
  admit(channel: number, payload: Uint8Array): void {
    const settings = this.#settings;
    if (settings === undefined) {
      throw new SendError("notConnected", channel, payload);
    }
    const rule = ruleFor(settings, channel);
    if (rule === undefined || !Number.isInteger(channel) || channel === settings.movesChannel) {
      throw new SendError("noSuchChannel", channel, payload);
    }
    const bytesMax = Math.min(settings.messageBytesMax, rule.queueBytesMax);
    if (payload.length > bytesMax) {
      throw new SendError("tooLong", channel, payload, bytesMax);
    }
    if (this.#bytes > 0 && this.#bytes + payload.length + ITEM_BYTES > this.#queueBytesMax) {
      throw new SendError("workerBusy", channel, payload);
    }
    if (rule.overflow === "refuse") {
      const gate = this.#gates.get(channel) ?? { messages: 0, bytes: 0, taken: NOTHING };
      const { taken } = gate;
      const messages = gate.messages - taken.takenMessages + taken.messages + 1;
      const bytes = gate.bytes - taken.takenBytes + taken.bytes + payload.length;
      if (messages > rule.queueMessagesMax || bytes > rule.queueBytesMax) {
        throw new SendError("queueFull", channel, payload);
      }
      this.#gates.set(channel, {
        messages: gate.messages + 1,
        bytes: gate.bytes + payload.length,
        taken,
      });
    }
    this.#bytes += payload.length + ITEM_BYTES;
  }

  /** The worker has taken this much, and this is queued there. */
  onTaken(bytes: number, gates: readonly GateNews[]): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
    for (const taken of gates) {
      const gate = this.#gates.get(taken.channel);
      if (gate !== undefined) {
        gate.taken = taken;
      }
    }
  }
}
