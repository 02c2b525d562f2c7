// A whole client against a server of the protocol in virtual time: over WebTransport with loss, over a WebSocket, and
// from one to the other.

import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { coreModule } from "../src/core/module";
import { SendError } from "../src/errors";
import { Player } from "./player";

// It is compiled in real time.
beforeAll(() => coreModule());

const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `message ${at}`);

describe("over WebTransport", () => {
  test("messages of all five modes come back, with receipts", async () => {
    const player = new Player();
    await player.connected();
    expect(player.client.carrier).toBe("webtransport");
    const ids = [0, 1, 2, 3, 4].map((channel) => player.client.send(channel, `on ${channel}`));
    await player.until("the echoes", () => player.of("message").length === 5);
    expect([0, 1, 2, 3, 4].flatMap((channel) => player.texts(channel))).toEqual(
      numbered(5).map((_, at) => `on ${at}`),
    );
    await player.until("the receipts", () => player.of("acknowledged").length === 5);
    expect(
      player
        .of("acknowledged")
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids);
  });

  test.each([0.02, 0.1, 0.3])(
    "with a loss of %f, reliable messages come back once and in order",
    async (loss) => {
      const player = new Player({ loss, seed: 7, delay: 20 });
      await player.connected();
      for (const text of numbered(300)) {
        player.client.send(2, text);
        await player.clock.run(5);
      }
      await player.until("the echoes", () => player.texts(2).length === 300, 30_000);
      expect(player.texts(2)).toEqual(numbered(300));
      await player.clock.run(200);
      const statistics = player.client.statistics();
      expect(statistics?.packetsLost).toBeGreaterThan(0);
      expect(statistics?.page).toEqual({ oversized: 0, unsent: 0 });
    },
  );

  test("a message of 200,000 bytes comes back, in datagrams of the session's size and in bursts of ten", async () => {
    const player = new Player({ maxDatagramSize: 1_024, loss: 0.01, seed: 3 });
    await player.connected();
    const long = new Uint8Array(200_000).map((_, at) => at * 7);
    player.client.send(3, long);
    await player.until("the echo", () => player.of("message").length === 1, 60_000);
    expect(player.of("message")[0]?.payload).toEqual(long);
    const session = player.browser.sessions[0];
    expect(session?.farEnd?.longest).toBeLessThanOrEqual(1_024);
    expect(session?.farEnd?.longest).toBeGreaterThan(1_000);
    expect(session?.longestBurst).toBe(10);
    expect(session?.vanished).toBe(0);
  }, 30_000);

  test("a session whose datagrams grow and shrink is followed at once", async () => {
    const player = new Player({ maxDatagramSize: 1_024 });
    await player.connected();
    const session = player.browser.sessions[0];
    for (const size of [1_224, 1_100, 1_439]) {
      if (session?.farEnd !== undefined) {
        session.datagrams.maxDatagramSize = size;
        session.farEnd.longest = 0;
      }
      const before = player.of("message").length;
      player.client.send(3, new Uint8Array(20_000));
      await player.until("the echo", () => player.of("message").length > before);
      expect(session?.farEnd?.longest).toBeLessThanOrEqual(size);
      expect(session?.farEnd?.longest).toBeGreaterThan(size - 30);
    }
    expect(session?.vanished).toBe(0);
    expect(player.client.statistics()?.page.oversized).toBe(0);
  });

  describe("in Firefox, which drops datagrams that do not fit its window", () => {
    beforeEach(() =>
      vi.stubGlobal("navigator", {
        userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0",
      }),
    );
    afterEach(() => vi.unstubAllGlobals());

    test("datagrams go on eight streams in turn, each so long that a packet holds it", async () => {
      const player = new Player({ maxDatagramSize: 1_224 });
      await player.connected();
      player.client.send(3, new Uint8Array(100_000));
      await player.until("the echo", () => player.of("message").length === 1);
      const session = player.browser.sessions[0];
      const counts = session?.streams.map(({ datagrams }) => datagrams) ?? [];
      expect(counts).toHaveLength(8);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(Math.min(...counts)).toBeGreaterThan(9);
      expect(session?.farEnd?.longest).toBeLessThanOrEqual(1_208);
      expect(session?.farEnd?.longest).toBeGreaterThan(1_170);
      expect(session?.longestBurst).toBe(0);
    });

    test("the close of a page that is left is a datagram, sent before the session is closed", async () => {
      const player = new Player();
      await player.connected();
      const session = player.browser.sessions[0];
      const before = session?.longestBurst;
      player.host.post({ order: "leave", mayReturn: false });
      expect([before, session?.longestBurst]).toEqual([0, 1]);
    });

    test("a server that allows fewer streams has datagrams of half the size", async () => {
      const player = new Player({ maxDatagramSize: 1_224, streamsMax: 5 });
      await vi.waitFor(async () => {
        await player.clock.run(100);
        expect(player.client.state).toBe("connected");
      }, 5_000);
      player.client.send(3, new Uint8Array(20_000));
      await player.until("the echo", () => player.of("message").length === 1);
      expect(player.browser.sessions.at(-1)?.farEnd?.longest).toBeLessThanOrEqual(612);
    });

    test("a lost session is reported although its streams fail first", async () => {
      const player = new Player();
      await player.connected();
      player.browser.sessions[0]?.lose();
      await player.until("the close", () => player.of("closed").length === 1);
      expect(player.of("closed")[0]?.close.reason).toContain("the session was lost: Connection lost.");
    });

    test("a stream reset by the server ends the session, and the client reconnects", async () => {
      const player = new Player();
      await player.connected();
      player.browser.sessions[0]?.streams[3]?.reset(new Error("stopped"));
      await player.until("the close", () => player.of("closed").length === 1);
      expect(player.of("closed")[0]?.close.reason).toContain("a stream of the session failed: stopped");
      expect(player.browser.sessions[0]?.isClosed).toBe(true);
      await player.until("another connection", () => player.of("connected").length === 2);
    });
  });

  test("the queues of the session are as long as bursts need", async () => {
    const player = new Player();
    await player.connected();
    const datagrams = player.browser.sessions[0]?.datagrams;
    expect(datagrams?.incomingHighWaterMark).toBeGreaterThanOrEqual(1_000);
    expect(datagrams?.outgoingHighWaterMark).toBeGreaterThanOrEqual(100);
    expect(player.browser.sessions[0]?.options).toMatchObject({
      requireUnreliable: true,
      allowPooling: false,
    });
  });

  test("a certificate's hash comes from the URL and from the options", async () => {
    const hash = "ab".repeat(32);
    const bytes = new Uint8Array(32).fill(0xcd);
    const player = new Player(
      {},
      { serverCertificateHashes: [bytes] },
      `https://192.0.2.1:7777/#sha256=${hash}`,
    );
    await player.connected();
    const { url, options } = player.browser.sessions[0] ?? { url: "", options: {} };
    expect(url).toBe("https://192.0.2.1:7777/");
    expect(options.serverCertificateHashes?.map(({ value }) => value)).toEqual([
      bytes,
      new Uint8Array(32).fill(0xab),
    ]);
  });

  test("hashes from a function are requested before each attempt", async () => {
    let asked = 0;
    const serverCertificateHashes = async (): Promise<readonly string[]> => {
      asked += 1;
      if (asked === 1) {
        throw new Error("the web server restarts");
      }
      return Promise.resolve(asked === 2 ? ["no hash"] : ["cd".repeat(32)]);
    };
    const url = `https://192.0.2.1:7777/#sha256=${"ab".repeat(32)}`;
    const player = new Player({}, { serverCertificateHashes }, url);
    await player.connected();
    expect(player.of("closed").map(({ close }) => close.reason)).toEqual([
      "there is no certificate hash: the web server restarts",
      "there is no certificate hash: a certificate's hash has 64 hexadecimal digits, with or without colons between them",
    ]);
    const options = player.browser.sessions[0]?.options;
    expect(options?.serverCertificateHashes?.map(({ value }) => value)).toEqual([
      new Uint8Array(32).fill(0xab),
      new Uint8Array(32).fill(0xcd),
    ]);
  });

  test("the server's clock is known with its error", async () => {
    const player = new Player({ delay: 15 });
    await player.connected();
    await player.clock.run(2_000);
    const time = player.client.serverTime();
    expect(time?.error).toBeLessThan(40);
    expect(time?.at).toBeGreaterThan(500);
  });
});

describe("over a WebSocket", () => {
  test("messages of all five modes come back, and none is lost", async () => {
    const player = new Player({}, {}, "ws://192.0.2.1:7777");
    await player.connected();
    expect(player.client.carrier).toBe("websocket");
    for (const text of numbered(100)) {
      [0, 1, 2, 3].forEach((channel) => player.client.send(channel, text));
    }
    await player.until("the echoes", () => player.of("message").length === 400);
    expect(player.texts(2)).toEqual(numbered(100));
    expect(player.client.statistics()?.packetsLost).toBe(0);
    expect(player.browser.sockets[0]?.protocol).toBe("skipstone.1");
  });

  test("a full socket holds messages back only while it is full", async () => {
    const player = new Player({}, {}, "ws://192.0.2.1:7777");
    await player.connected();
    const socket = player.browser.sockets[0];
    if (socket?.farEnd === undefined) {
      throw new Error("it is open");
    }
    player.client.send(2, "before");
    socket.bufferedAmount = 1_000_000;
    await player.clock.run(100);
    const { sent } = socket.farEnd;
    player.client.send(2, "held back");
    await player.clock.run(500);
    expect(socket.farEnd.sent - sent).toBeLessThanOrEqual(1);
    socket.bufferedAmount = 0;
    await player.until("the echo", () => player.texts(2).includes("held back"), 100);
  });
});

describe("closing and reconnecting", () => {
  test("a refused client gets the reason, and does not try again", async () => {
    const player = new Player({}, { token: "refuse me" });
    await player.until("the end", () => player.client.state === "closed");
    expect(player.events).toEqual([{ type: "closed", close: { by: "peer", code: 77, reason: "not you" } }]);
  });

  test("a token is requested before each attempt", async () => {
    const tokens: string[] = [];
    const token = (): Promise<string> => {
      tokens.push(`token ${tokens.length}`);
      return Promise.resolve(tokens.at(-1) ?? "");
    };
    const player = new Player({}, { token });
    await player.connected();
    player.browser.sessions[0]?.lose();
    await player.until("the second connection", () => player.of("connected").length === 2);
    expect(tokens).toEqual(["token 0", "token 1"]);
  });

  test("a lost session is replaced after a pause that grows while attempts fail", async () => {
    const player = new Player();
    await player.connected();
    player.browser.behaviour.ready = "refused";
    player.browser.behaviour.socketReady = "refused";
    player.browser.sessions[0]?.lose();
    await player.until("some failures", () => player.of("closed").length === 6, 60_000);
    const [lost, ...failed] = player.of("closed");
    expect(lost?.close).toMatchObject({ by: "nobody", code: 1_008 });
    expect(failed[0]?.close).toMatchObject({ by: "nobody", code: 1_012 });
    const pauses = player.of("closed").map(({ retryIn = 0 }) => retryIn);
    pauses.forEach((pause, at) => {
      expect(pause).toBeGreaterThanOrEqual((250 / 2) * 2 ** at);
      expect(pause).toBeLessThanOrEqual(250 * 2 ** at);
    });
    player.browser.behaviour.ready = 10;
    await player.until("the connection", () => player.client.state === "connected", 60_000);
    player.client.send(2, "again");
    await player.until("the echo", () => player.texts(2).includes("again"));
  });

  test("attempts end where the options say so", async () => {
    const behaviour = { ready: "refused", socketReady: "refused" } as const;
    const player = new Player(behaviour, { reconnect: { attemptsMax: 2, pauseMin: 10 } });
    await player.until("the end", () => player.client.state === "closed");
    expect(player.of("closed").map(({ retryIn }) => retryIn !== undefined)).toEqual([true, true, false]);
    const once = new Player(behaviour, { reconnect: false });
    await once.until("the end", () => once.client.state === "closed");
    expect(once.of("closed")).toHaveLength(1);
  });

  test("a client reconnects after a shutdown, but not after a kick", async () => {
    const player = new Player();
    await player.connected();
    player.browser.sessions[0]?.farEnd?.close(1_000);
    await player.until("the second connection", () => player.of("connected").length === 2);
    player.browser.sessions[1]?.farEnd?.close(1_002);
    await player.until("the end", () => player.client.state === "closed");
    expect(player.of("closed").at(-1)?.close).toMatchObject({ by: "peer", code: 1_002 });
    expect(player.browser.sessions).toHaveLength(2);
  });

  test("a closed client sends code and reason, and closes its session", async () => {
    const player = new Player();
    await player.connected();
    player.client.send(2, "the last word");
    player.client.close({ code: 5, reason: "enough", linger: 1_000 });
    await player.until("the end", () => player.client.state === "closed");
    expect(player.of("closed")).toEqual([
      { type: "closed", close: { by: "local", code: 5, reason: "enough" } },
    ]);
    await player.until("the session's end", () => player.browser.sessions[0]?.isClosed ?? false);
    expect(() => player.client.send(2, "x")).toThrow(SendError);
    player.client.close();
  });

  test("a client that is closed before it connects ends at once", async () => {
    const player = new Player({ ready: "never", socketReady: "never" });
    await player.clock.run(100);
    player.client.close({ code: 3 });
    await player.until("the end", () => player.client.state === "closed", 10);
    expect(player.of("closed")[0]?.close).toMatchObject({ by: "local", code: 3 });
  });
});

describe("which carrier wins", () => {
  test("WebTransport, if it opens within its start", async () => {
    const player = new Player({ ready: 250, socketReady: 1 });
    await player.connected();
    expect(player.client.carrier).toBe("webtransport");
    expect(player.browser.sockets).toHaveLength(0);
  });

  test("the WebSocket, where UDP is blocked; and the session is given up", async () => {
    const player = new Player({ ready: "never", socketReady: 20 });
    const began = player.clock.now();
    await player.connected();
    expect(player.client.carrier).toBe("websocket");
    expect(player.clock.now() - began).toBeLessThan(500);
    expect(player.browser.sessions[0]?.isClosed).toBe(true);
    expect(player.browser.sockets[0]?.url).toBe("wss://192.0.2.1:7777/");
  });

  test("the WebSocket at once, where WebTransport fails", async () => {
    const player = new Player({ ready: "refused", socketReady: 20 });
    const began = player.clock.now();
    await player.connected();
    expect(player.client.carrier).toBe("websocket");
    expect(player.clock.now() - began).toBeLessThan(150);
  });

  test("the WebSocket the next time, where datagrams vanish though the session opened", async () => {
    const player = new Player({ loss: 1, ready: 5 }, { handshakeTimeout: 2_000 });
    await player.connected();
    expect(player.of("closed")[0]?.close).toMatchObject({ by: "nobody", code: 1_006 });
    expect(player.client.carrier).toBe("websocket");
  });

  test("neither, and the reason names both", async () => {
    const player = new Player({ ready: "refused", socketReady: "refused" }, { reconnect: false });
    await player.until("the end", () => player.client.state === "closed");
    const { close } = player.of("closed")[0] ?? {};
    expect(close?.reason).toContain("https://192.0.2.1:7777/: Opening handshake failed.");
    expect(close?.reason).toContain("wss://192.0.2.1:7777/: the WebSocket cannot be opened");
  });
});
