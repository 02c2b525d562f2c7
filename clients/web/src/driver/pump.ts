// Drives the core: passes received datagrams in, sends due datagrams, and sets a timer for the rest. One turn handles
// everything received since the last one.

import { CARRIER, EVENT, type Core, type CoreEvent } from "../core/core";
import type { Carrier } from "./carrier";
import type { Clock, Timer } from "./clock";

/** How often a blocked stream is checked again, in ms. */
const BLOCKED_MS = 4;
/** Events of a turn, at most: then others have their turn. */
const EVENTS_MAX = 4_096;

/** The owner of the pump. */
export interface PumpOwner {
  onEvent(event: CoreEvent): void;
  /** Whether there is room for events; if not, they wait in the core, which stops the server by flow control. */
  hasRoom(): boolean;
  onTurn(now: number): void;
  /** The core trapped: it can do nothing more. */
  onFailure(error: unknown): void;
}

/** A core and the carriers of its connections. */
export class Pump {
  readonly #core: Core;
  readonly #clock: Clock;
  readonly #owner: PumpOwner;
  readonly #carriers = new Map<number, Attached>();
  readonly #began: number;
  #timer: Timer | undefined;
  #isTurnDue = false;
  #isStopped = false;

  constructor(core: Core, clock: Clock, owner: PumpOwner) {
    this.#core = core;
    this.#clock = clock;
    this.#owner = owner;
    this.#began = clock.now();
  }

  /** The core's clock, in µs. */
  now(): number {
    return Math.max(0, Math.round((this.#clock.now() - this.#began) * 1_000));
  }

  /** Begins a connection on an open carrier. Returns its socket, or a refusal. */
  connect(carrier: Carrier, token: Uint8Array): number {
    const { packetBytesMax } = carrier;
    return this.#attach(carrier, this.#core.connect(this.now(), numberOf(carrier), packetBytesMax, token));
  }

  /** The same to the server to which the client is moved. */
  connectThere(carrier: Carrier): number {
    const { packetBytesMax } = carrier;
    return this.#attach(carrier, this.#core.connectThere(this.now(), numberOf(carrier), packetBytesMax));
  }

  #attach(carrier: Carrier, socket: number): number {
    if (socket < 0) {
      carrier.close();
      return socket;
    }
    const attached: Attached = { carrier, packetBytesMax: carrier.packetBytesMax, isBlocked: false };
    this.#carriers.set(socket, attached);
    carrier.handlers = {
      onDatagram: (datagram) => {
        this.#guard(() => this.#core.datagram(this.now(), socket, datagram));
        this.soon();
      },
      onWritable: () => this.#unblock(socket, attached),
      onLost: (reason) => {
        this.#guard(() => this.#core.carrierLost(this.now(), socket, reason));
        this.soon();
      },
    };
    this.soon();
    return socket;
  }

  carrierOf(socket: number): Carrier | undefined {
    return this.#carriers.get(socket)?.carrier;
  }

  /** Whether no carrier is left. */
  get isIdle(): boolean {
    return this.#carriers.size === 0;
  }

  /** Has a turn in the next task. */
  soon(): void {
    if (this.#isTurnDue || this.#isStopped) {
      return;
    }
    this.#isTurnDue = true;
    this.#clock.soon(() => {
      this.#isTurnDue = false;
      this.turn();
    });
  }

  /** Everything that is due now. */
  turn(): void {
    this.#guard(() => {
      const now = this.now();
      this.#ask(now);
      this.#core.timeout(now);
      this.#poll(now);
      this.#transmit(now);
      this.#release();
      this.#owner.onTurn(now);
      this.#schedule();
    });
  }

  /** Closes a carrier without waiting; its connection has ended. */
  drop(socket: number): void {
    const attached = this.#carriers.get(socket);
    attached?.carrier.close();
    this.#guard(() => this.#core.carrierLost(this.now(), socket, ""));
    this.soon();
  }

  /** Closes all carriers, and does nothing from now on. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#carriers.forEach(({ carrier }) => carrier.close());
    this.#carriers.clear();
  }

  /** Sizes of sessions change, and streams do not report that they have room again. */
  #ask(now: number): void {
    for (const [socket, attached] of this.#carriers) {
      const { packetBytesMax } = attached.carrier;
      if (packetBytesMax !== attached.packetBytesMax && packetBytesMax > 0) {
        attached.packetBytesMax = packetBytesMax;
        this.#core.setPacketBytesMax(now, socket, packetBytesMax);
      }
      if (attached.isBlocked) {
        this.#unblock(socket, attached);
      }
    }
  }

  #unblock(socket: number, attached: Attached): void {
    if (attached.isBlocked && attached.carrier.isWritable) {
      attached.isBlocked = false;
      this.#guard(() => this.#core.setWritable(this.now(), socket, true));
      this.soon();
    }
  }

  #poll(now: number): void {
    for (let count = 0; count < EVENTS_MAX; count += 1) {
      const event = this.#owner.hasRoom() ? this.#core.pollEvent(now) : undefined;
      if (event === undefined || event.kind === EVENT.none) {
        return;
      }
      this.#owner.onEvent(event);
    }
    this.soon();
  }

  #transmit(now: number): void {
    for (;;) {
      const transmit = this.#core.pollTransmit(now);
      if (transmit === undefined) {
        return;
      }
      const { socket, bytes, segmentBytes } = transmit;
      const attached = this.#carriers.get(socket);
      for (let at = 0; attached !== undefined && at < bytes.length; at += segmentBytes) {
        attached.carrier.send(bytes.subarray(at, at + segmentBytes));
      }
      if (attached !== undefined && !attached.isBlocked && !attached.carrier.isWritable) {
        attached.isBlocked = true;
        this.#core.setWritable(now, socket, false);
      }
    }
  }

  #release(): void {
    for (;;) {
      const socket = this.#core.pollReleased();
      if (socket === undefined) {
        return;
      }
      this.#carriers.get(socket)?.carrier.close();
      this.#carriers.delete(socket);
    }
  }

  #schedule(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#isStopped) {
      return;
    }
    let wait = (this.#core.pollTimeout() - this.now()) / 1_000;
    for (const { isBlocked } of this.#carriers.values()) {
      wait = isBlocked ? Math.min(Math.max(wait, 1), BLOCKED_MS) : wait;
    }
    if (wait <= 0) {
      this.soon();
    } else if (Number.isFinite(wait)) {
      this.#timer = this.#clock.after(wait, () => this.turn());
    }
  }

  #guard(act: () => void): void {
    if (this.#isStopped) {
      return;
    }
    try {
      act();
    } catch (error) {
      this.stop();
      this.#owner.onFailure(error);
    }
  }
}

/** The kind of carrier, as the core numbers it. */
function numberOf(carrier: Carrier): number {
  return CARRIER[carrier.isRepaired ? "webtransportStreams" : carrier.kind];
}

interface Attached {
  carrier: Carrier;
  packetBytesMax: number;
  /** The core knows that the carrier accepts no more. */
  isBlocked: boolean;
}
