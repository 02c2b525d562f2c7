// Failures around a connection: tokens that do not arrive, pages that are left, servers that accept every client and
// close at once, applications that throw.

import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { askOf } from "../src/asking";
import { driverOptions } from "../src/choices";
import { Client, failure } from "../src/client";
import { coreModule } from "../src/core/module";
import { WorkerHost } from "../src/link/host";
import type { News, Order } from "../src/link/messages";
import { Queue } from "../src/link/queue";
import { Player, URL_OF_SERVER } from "./player";

// It is compiled in real time.
beforeAll(() => coreModule());

afterEach(() => vi.unstubAllGlobals());

describe("tokens", () => {
  test("a missing one is requested again, after a growing pause", async () => {
    let asked = 0;
    const token = (): Promise<string> => {
      asked += 1;
      return asked <= 4 ? Promise.reject(new Error("the login is out of reach")) : Promise.resolve("a token");
    };
    const player = new Player({}, { token });
    await player.connected();
    const failed = player.of("closed");
    expect(failed).toHaveLength(4);
    failed.forEach(({ close, retryIn = 0 }, at) => {
      expect(close).toEqual({
        by: "nobody",
        code: 1_012,
        reason: "there is no token: the login is out of reach",
      });
      expect(retryIn).toBeGreaterThanOrEqual((250 / 2) * 2 ** at);
    });
  });

  test("a function that throws has no token", async () => {
    let asked = 0;
    const token = (): string => {
      asked += 1;
      if (asked === 1) {
        throw new Error("not yet");
      }
      return "a token";
    };
    const player = new Player({}, { token });
    await player.connected();
    expect(player.of("closed")[0]?.close.reason).toBe("there is no token: not yet");
  });

  test("a promise that never resolves ends the attempt, and one that resolves too late is ignored", async () => {
    const late: ((token: string) => void)[] = [];
    let asked = 0;
    const token = (): Promise<string> => {
      asked += 1;
      return asked === 1 ? new Promise((resolve) => late.push(resolve)) : Promise.resolve("a token");
    };
    const player = new Player({}, { token, tokenTimeout: 5_000 });
    const began = player.clock.now();
    await player.until("the end of the attempt", () => player.of("closed").length === 1, 6_000);
    expect(player.clock.now() - began).toBeGreaterThanOrEqual(5_000);
    expect(player.of("closed")[0]?.close.reason).toContain("within 5000 ms");
    late[0]?.("a late one");
    await player.clock.run(50);
    expect(player.browser.sessions).toHaveLength(0);
    await player.connected();
    expect(player.browser.sessions).toHaveLength(1);
  });

  test("one that is too long ends the client", async () => {
    const player = new Player({}, { token: "x".repeat(1_025) });
    await player.until("the end", () => player.client.state === "closed");
    expect(player.of("closed")).toHaveLength(1);
    expect(player.of("closed")[0]?.close.reason).toContain("1025");
  });
});

describe("pauses", () => {
  test("grow while a server accepts the client and closes at once", async () => {
    const player = new Player();
    for (let count = 1; count <= 6; count += 1) {
      await player.until("a connection", () => player.of("connected").length === count, 60_000);
      player.browser.sessions.at(-1)?.farEnd?.close(1_000);
      await player.until("its end", () => player.of("closed").length === count);
    }
    const pauses = player.of("closed").map(({ retryIn = 0 }) => retryIn);
    pauses.forEach((pause, at) => expect(pause).toBeGreaterThanOrEqual((250 / 2) * 2 ** at));
  });

  test("are reset after a connection was established for a while", async () => {
    const player = new Player();
    for (let count = 1; count <= 4; count += 1) {
      await player.until("a connection", () => player.of("connected").length === count, 60_000);
      await player.clock.run(10_500);
      player.browser.sessions.at(-1)?.lose();
      await player.until("its end", () => player.of("closed").length === count);
      expect(player.of("closed").at(-1)?.retryIn).toBeLessThanOrEqual(250);
    }
  });
});

describe("a page that is left", () => {
  test("and shown again is told that the connection has ended, and gets another", async () => {
    const player = new Player();
    await player.connected();
    player.host.post({ order: "leave", mayReturn: true });
    expect(player.browser.sessions[0]?.isClosed).toBe(true);
    await player.until("the end", () => player.of("closed").length === 1, 10);
    expect(player.of("closed")[0]).toMatchObject({
      close: { by: "nobody", code: 1_008, reason: "the page was left" },
      retryIn: expect.any(Number) as number,
    });
    await player.until("the second connection", () => player.of("connected").length === 2);
    player.client.send(2, "back");
    await player.until("the echo", () => player.texts(2).includes("back"));
  });

  test("that is connecting abandons its attempt, and begins another", async () => {
    const player = new Player({ ready: 200, socketReady: "never" });
    await player.clock.run(50);
    player.host.post({ order: "leave", mayReturn: true });
    await player.connected();
    expect(player.of("closed")).toHaveLength(1);
    expect(player.browser.sessions.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  test("that is closing is closed", async () => {
    const player = new Player({ delay: 500 });
    await player.connected();
    player.client.close({ code: 7, linger: 5_000 });
    player.host.post({ order: "leave", mayReturn: true });
    await player.until("the end", () => player.client.state === "closed", 10);
    expect(player.of("closed")).toEqual([{ type: "closed", close: { by: "local", code: 7, reason: "" } }]);
  });

  test("permanently leaves nothing in its worker", async () => {
    const player = new Player();
    await player.connected();
    player.host.post({ order: "leave", mayReturn: false });
    expect(player.browser.sessions[0]?.isClosed).toBe(true);
    await player.clock.run(60_000);
    expect(player.browser.sessions).toHaveLength(1);
  });
});

test("a close with one of the protocol's codes is permanent", async () => {
  const player = new Player();
  await player.connected();
  player.client.close({ code: 1_000 });
  await player.until("the end", () => player.client.state === "closed");
  await player.clock.run(60_000);
  expect(player.browser.sessions).toHaveLength(1);
});

test("a throwing event handler is reported, and still gets all events", async () => {
  const reported: unknown[] = [];
  vi.stubGlobal("reportError", (error: unknown) => reported.push(error));
  const player = new Player({}, { token: "refuse me" });
  const heard: string[] = [];
  player.client.onEvent = ({ type }) => {
    heard.push(type);
    throw new Error(`no ${type}, please`);
  };
  await player.until("the end", () => player.client.state === "closed");
  expect(heard).toEqual(["closed"]);
  expect(reported).toEqual([new Error("no closed, please")]);

  const other = new Player();
  let messages = 0;
  other.client.onEvent = ({ type }) => {
    messages += Number(type === "message");
    if (type === "message") {
      throw new Error("no message, please");
    }
  };
  await other.connected();
  Array.from({ length: 20 }, (_, at) => other.client.send(2, `message ${at}`));
  await other.until("the echoes", () => messages === 20);
});

describe("a worker", () => {
  /** The messages of the page to its workers. */
  class FakeWorker {
    static all: FakeWorker[] = [];
    readonly orders: Order[] = [];
    onmessage: ((event: { data: News }) => void) | undefined;
    onerror: unknown;
    isTerminated = false;

    constructor() {
      FakeWorker.all.push(this);
    }

    postMessage(order: Order): void {
      this.orders.push(order);
    }

    terminate(): void {
      this.isTerminated = true;
    }
  }

  const begin = async (token?: () => Promise<string>): Promise<{ client: Client; worker: FakeWorker }> => {
    const host = new WorkerHost(() => new FakeWorker() as unknown as Worker, failure);
    const client = new Client(
      host,
      driverOptions(URL_OF_SERVER, {}),
      askOf(token === undefined ? {} : { token }),
    );
    await coreModule();
    await vi.waitFor(() => expect(FakeWorker.all).toHaveLength(1));
    const worker = FakeWorker.all[0];
    if (worker === undefined) {
      throw new Error("it has begun");
    }
    return { client, worker };
  };

  beforeEach(() => {
    FakeWorker.all = [];
  });

  test("is not restarted for an ended client", async () => {
    let provide: ((token: string) => void) | undefined;
    const token = (): Promise<string> => new Promise((resolve) => (provide = resolve));
    const { client, worker } = await begin(token);
    worker.onmessage?.({ data: { client: 1, attempt: 1 } });
    expect(provide).toBeDefined();
    const before = worker.orders.length;
    worker.onmessage?.({ data: failure(1, "it failed") });
    expect(client.pollEvent()).toMatchObject({ type: "closed" });
    expect(client.state).toBe("closed");
    provide?.("a late token");
    await Promise.resolve();
    client.flush();
    client.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(worker.orders).toHaveLength(before);
    expect(FakeWorker.all).toHaveLength(1);
  });

  test("that has failed is not restarted by requests to its clients", async () => {
    const { client, worker } = await begin();
    const onError = worker.onerror as (event: { preventDefault(): void; message: string }) => void;
    onError({ preventDefault: () => undefined, message: "it cannot be loaded" });
    expect(worker.isTerminated).toBe(true);
    client.flush();
    expect(client.pollEvent()).toMatchObject({ type: "closed", close: { by: "local" } });
    expect(FakeWorker.all).toHaveLength(1);
  });

  test("is told that a page is left, and whether it may return; an ended worker is not told", async () => {
    const target = new EventTarget();
    vi.stubGlobal("document", {});
    vi.stubGlobal("addEventListener", target.addEventListener.bind(target));
    const { worker } = await begin();
    target.dispatchEvent(Object.assign(new Event("pagehide"), { persisted: true }));
    expect(worker.orders.at(-1)).toEqual({ order: "leave", mayReturn: true });
    const onError = worker.onerror as (event: { preventDefault(): void; message: string }) => void;
    onError({ preventDefault: () => undefined, message: "" });
    const before = worker.orders.length;
    target.dispatchEvent(Object.assign(new Event("pagehide"), { persisted: false }));
    expect(worker.orders).toHaveLength(before);
  });
});

describe("a queue", () => {
  test("gives what it took, in order, whatever comes in between", () => {
    const queue = new Queue<number>();
    const model: number[] = [];
    let state = 1;
    for (let step = 0; step < 20_000; step += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      if (state % 5 < 3) {
        queue.push(step);
        model.push(step);
      } else {
        expect(queue.shift()).toBe(model.shift());
      }
      expect(queue.length).toBe(model.length);
    }
  });

  test("moves each item once at most", () => {
    const queue = new Queue<number>();
    const slice = vi.spyOn(Array.prototype, "slice");
    const count = 100_000;
    Array.from({ length: count }, (_, at) => queue.push(at));
    for (let at = 0; at < count; at += 1) {
      queue.shift();
    }
    const moves = slice.mock.calls.length;
    slice.mockRestore();
    expect(moves).toBeLessThanOrEqual(Math.log2(count) + 1);
    expect(queue.shift()).toBeUndefined();
  });
});
