// A page is moved from server to server while it plays: nothing reliable is lost, doubled or reordered, and whatever
// fails leaves it where it is.

import { beforeAll, describe, expect, test } from "vitest";
import { coreModule } from "../src/core/module";
import { SendError } from "../src/errors";
import type { ClientOptions } from "../src/options";
import { Player } from "./player";
import type { Behaviour, FarEnd, Stage } from "./simulated";

// It is compiled in real time.
beforeAll(() => coreModule());

const [UNRELIABLE, ORDERED, UNORDERED, MOVES] = [0, 2, 3, 64];

/** A player among servers: each carrier that it opens leads to a server of its own. */
class Stayer {
  readonly player: Player;
  readonly #said = new Map<FarEnd, Stage[]>();
  /** The server that has the player. */
  #here: FarEnd | undefined;
  #sent = 0;
  #moves = 0;
  #welcomed = 0;
  /** Whether other servers take the player. */
  welcomes = true;

  constructor(behaviour: Behaviour = {}, options: ClientOptions = {}, url?: string) {
    this.player = new Player(behaviour, options, url);
  }

  get here(): FarEnd | undefined {
    return this.#here ?? this.servers[0];
  }

  get servers(): FarEnd[] {
    const { sessions, sockets } = this.player.browser;
    return [...sessions, ...sockets].map(({ farEnd }) => farEnd).filter((it) => it !== undefined);
  }

  /** Everything that the client has said there about moves. */
  said(server: FarEnd | undefined): Stage[] {
    if (server === undefined) {
      return [];
    }
    const said = this.#said.get(server) ?? [];
    for (let stage = server.stage(); stage !== undefined; stage = server.stage()) {
      said.push(stage);
    }
    this.#said.set(server, said);
    return said;
  }

  /** Plays in steps of 5 ms until this holds, and sends a numbered message in each. */
  async playUntil(what: string, isDone: () => boolean, ms = 10_000): Promise<void> {
    const { client, clock } = this.player;
    for (let step = 0; step * 5 < ms; step += 1) {
      if (isDone()) {
        return;
      }
      this.#sent += 1;
      [UNRELIABLE, ORDERED, UNORDERED].forEach((channel) => client.send(channel, String(this.#sent)));
      await clock.run(5);
      if (this.welcomes && this.#welcomed < this.#moves && this.said(this.here).at(-1) === "ready") {
        this.#welcomed = this.#moves;
        this.servers.at(-1)?.welcome(this.#moves);
      }
    }
    throw new Error(`${what} did not happen: ${JSON.stringify(this.servers.map((it) => this.said(it)))}`);
  }

  begin(address = `192.0.2.${this.#moves + 2}:7777`): void {
    this.#moves += 1;
    this.here?.moveTo(this.#moves, address);
  }

  async move(): Promise<void> {
    const before = this.player.of("moved").length;
    this.begin();
    await this.playUntil("the move", () => this.player.of("moved").length > before);
    this.#here = this.servers.at(-1);
    expect(this.#here?.hasTicket(), "it came with the move's token").toBe(true);
  }

  /** Every message has come back once, and in order; each receipt came once. */
  async settle(): Promise<void> {
    const { player } = this;
    await player.until("the echoes", () => player.texts(UNORDERED).length >= this.#sent);
    await player.until("the last echo", () => player.texts(ORDERED).length >= this.#sent);
    await player.until("the receipts", () => this.#receipts().length >= this.#sent * 2);
    const numbers = Array.from({ length: this.#sent }, (_, at) => String(at + 1));
    expect(player.texts(ORDERED)).toEqual(numbers);
    expect([...player.texts(UNORDERED)].sort((a, b) => Number(a) - Number(b))).toEqual(numbers);
    expect(new Set(this.#receipts()).size).toBe(this.#sent * 2);
    expect(player.of("closed")).toEqual([]);
    const receipts = [...player.of("acknowledged"), ...player.of("givenUp")];
    expect(receipts.some(({ channel }) => channel === MOVES)).toBe(false);
  }

  #receipts(): number[] {
    const reliable = this.player.of("acknowledged").filter(({ channel }) => channel !== UNRELIABLE);
    return reliable.map(({ id }) => id);
  }
}

const started = async (
  behaviour: Behaviour = {},
  options: ClientOptions = {},
  url?: string,
): Promise<Stayer> => {
  const stayer = new Stayer(behaviour, options, url);
  await stayer.player.connected();
  await stayer.player.until("the word that it can be moved", () => stayer.said(stayer.here).length > 0);
  return stayer;
};

describe("a page that is moved", () => {
  test.each([
    ["WebTransport", {}, "https://192.0.2.1:7777"],
    ["WebTransport with loss", { loss: 0.05, seed: 3 }, "https://192.0.2.1:7777"],
    ["WebSocket", {}, "ws://192.0.2.1:7777"],
  ])("by %s loses, doubles and reorders nothing reliable", async (_, behaviour, url) => {
    const stayer = await started(behaviour, { fallback: false }, url);
    for (let count = 0; count < 5; count += 1) {
      await stayer.move();
    }
    await stayer.settle();
    const { player } = stayer;
    const [scheme] = url.split(":");
    expect(player.of("moved").map((event) => event.url)).toEqual(
      [2, 3, 4, 5, 6].map((host) => `${scheme}://192.0.2.${host}:7777/`),
    );
    expect(player.client.state).toBe("connected");
    await player.until("statistics of the last server", () => player.client.statistics() !== undefined);
    // The servers that it has left are left.
    await player.until("the ends", () =>
      [...player.browser.sessions.slice(0, -1)].every(({ isClosed }) => isClosed),
    );
    await player.until("the sockets' ends", () =>
      player.browser.sockets.slice(0, -1).every(({ readyState }) => readyState === 3),
    );
  });

  test("reconnects to the server that it was moved to, with a token of its own", async () => {
    const tokens: string[] = [];
    const token = (): string => {
      tokens.push("asked");
      return "first";
    };
    const stayer = await started({}, { token, fallback: false });
    await stayer.move();
    expect(tokens).toEqual(["asked"]);
    // It is lost there: the next connection goes to the server that it was moved to.
    stayer.player.browser.sessions.at(-1)?.lose();
    const { player } = stayer;
    await player.until("the second connection", () => player.of("connected").length === 2);
    expect(player.browser.sessions.at(-1)?.url).toBe("https://192.0.2.2:7777/");
    expect(tokens).toEqual(["asked", "asked"]);
  });

  test("goes by WebSocket where the other server has no WebTransport", async () => {
    const stayer = await started();
    stayer.player.browser.behaviour.ready = "refused";
    await stayer.move();
    expect(stayer.player.of("moved")).toEqual([
      { type: "moved", url: "wss://192.0.2.2:7777/", carrier: "websocket" },
    ]);
    expect(stayer.player.client.carrier).toBe("websocket");
    await stayer.settle();
  });

  test("cannot send on the channel of moves", async () => {
    const stayer = await started();
    expect(() => stayer.player.client.send(MOVES, "mine")).toThrow(SendError);
  });

  test("that is closed meanwhile ends both connections, and the last word arrives", async () => {
    for (const wait of [0, 40, 65, 80, 95, 110, 125, 140]) {
      const stayer = await started({}, { fallback: false });
      stayer.begin();
      const { player } = stayer;
      let spent = 0;
      await stayer.playUntil("the wait", () => (spent += 5) > wait);
      const id = player.client.send(ORDERED, "the last word");
      player.client.close({ code: 5, reason: "enough", linger: 2_000 });
      await player.until("the end", () => player.client.state === "closed");
      expect(player.of("closed")).toEqual([
        { type: "closed", close: { by: "local", code: 5, reason: "enough" } },
      ]);
      expect(player.of("acknowledged").some((event) => event.id === id)).toBe(true);
      await player.until("both ends", () => player.browser.sessions.every(({ isClosed }) => isClosed));
    }
  });

  test("and left ends both connections at once", async () => {
    const stayer = await started({}, { fallback: false });
    stayer.welcomes = false;
    stayer.begin();
    await stayer.playUntil("readiness", () => stayer.said(stayer.here).includes("ready"));
    const { player } = stayer;
    player.host.post({ order: "leave", mayReturn: false });
    expect(player.browser.sessions.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  });
});

describe("a page that cannot be moved plays on here", () => {
  test("where no carrier opens", async () => {
    const stayer = await started({}, { fallback: false });
    stayer.player.browser.behaviour.ready = "refused";
    stayer.begin();
    await stayer.playUntil("the refusal", () => stayer.said(stayer.here).includes("refused"));
    await stayer.settle();
    stayer.player.browser.behaviour.ready = 30;
    await stayer.move();
    await stayer.settle();
  });

  test("where a carrier opens too late", async () => {
    const stayer = await started({}, { fallback: false, handshakeTimeout: 60_000 });
    stayer.player.browser.behaviour.ready = 10_500;
    stayer.begin();
    await stayer.playUntil("the end", () => stayer.said(stayer.here).includes("late"), 11_000);
    await stayer.player.clock.run(2_000);
    expect(stayer.player.browser.sessions[1]?.isClosed).toBe(true);
    await stayer.settle();
  });

  test("where the address is none", async () => {
    const stayer = await started();
    stayer.begin("nowhere");
    await stayer.playUntil("the refusal", () => stayer.said(stayer.here).includes("refused"));
    await stayer.settle();
  });

  test("where the other server does not welcome it, and what was held back is sent here", async () => {
    const stayer = await started({}, { fallback: false });
    stayer.welcomes = false;
    stayer.begin();
    await stayer.playUntil("the end", () => stayer.said(stayer.here).includes("late"), 12_000);
    await stayer.settle();
    await stayer.player.until("the other's end", () => stayer.player.browser.sessions[1]?.isClosed ?? false);
  });

  test("where the server cancels", async () => {
    const stayer = await started({}, { fallback: false });
    stayer.welcomes = false;
    stayer.begin();
    await stayer.playUntil("readiness", () => stayer.said(stayer.here).includes("ready"));
    stayer.servers[0]?.cancel(1);
    await stayer.playUntil("the end", () => stayer.said(stayer.here).includes("cancelled"));
    stayer.welcomes = true;
    await stayer.move();
    await stayer.settle();
  });

  test("where it does not reconnect: it never says that it can be moved", async () => {
    const player = new Player({}, { reconnect: false });
    await player.connected();
    await player.clock.run(1_000);
    expect(player.browser.sessions[0]?.farEnd?.stage()).toBeUndefined();
  });

  test("unless it loses this server before it has chosen: then it has lost its server", async () => {
    const stayer = await started({}, { fallback: false });
    stayer.welcomes = false;
    stayer.begin();
    await stayer.playUntil("readiness", () => stayer.said(stayer.here).includes("ready"));
    const { player } = stayer;
    player.browser.sessions[0]?.lose();
    await player.until("the end", () => player.of("closed").length === 1);
    await player.until("the second connection", () => player.of("connected").length === 2);
    await player.until("the other's end", () => player.browser.sessions[1]?.isClosed ?? false);
  });
});
