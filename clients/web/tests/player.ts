// A client over the carriers of a test, in virtual time.

import { askOf } from "../src/asking";
import { driverOptions } from "../src/choices";
import { Client } from "../src/client";
import type { ClientEvent } from "../src/events";
import type { ClientOptions } from "../src/options";
import { LocalHost } from "./local";
import { FakeBrowser, type Behaviour } from "./simulated";
import { VirtualClock } from "./virtual";

export const URL_OF_SERVER = "https://192.0.2.1:7777";

export class Player {
  readonly clock: VirtualClock;
  readonly browser: FakeBrowser;
  readonly host: LocalHost;
  readonly client: Client;
  readonly events: ClientEvent[] = [];

  constructor(behaviour: Behaviour = {}, options: ClientOptions = {}, url = URL_OF_SERVER) {
    this.clock = new VirtualClock(behaviour.seed);
    this.browser = new FakeBrowser(this.clock, behaviour);
    const epochNow = (): number => performance.timeOrigin + performance.now();
    this.host = new LocalHost({ clock: this.clock, sockets: this.browser.carriers, epochNow });
    this.client = new Client(this.host, driverOptions(url, options), askOf(options));
    this.client.onEvent = (event) => this.events.push(event);
  }

  /** Waits in virtual time; fails after this number of milliseconds. */
  async until(what: string, isDone: () => boolean, ms = 10_000): Promise<void> {
    if (!(await this.clock.run(ms, isDone))) {
      throw new Error(`${what} did not happen within ${ms} ms: ${JSON.stringify(this.events)}`);
    }
  }

  async connected(): Promise<void> {
    await this.until("the connection", () => this.client.state === "connected");
  }

  of<T extends ClientEvent["type"]>(type: T): Extract<ClientEvent, { type: T }>[] {
    return this.events.filter((event) => event.type === type) as Extract<ClientEvent, { type: T }>[];
  }

  texts(channel: number): string[] {
    const messages = this.of("message").filter((event) => event.channel === channel);
    return messages.map((event) => new TextDecoder().decode(event.payload));
  }
}
