// The module alone: its refusals, the names of its figures, and its costs.

import { beforeAll, describe, expect, test } from "vitest";
import { CARRIER, Core, EVENT, OPTION, REFUSAL } from "../src/core/core";
import { coreModule } from "../src/core/module";

let module: WebAssembly.Module;
beforeAll(async () => void (module = await coreModule()));

const seed = new Uint8Array(32).fill(5);
const token = new Uint8Array(0);
const begin = (): Core => new Core(module, seed);

describe("a wrong argument is a number, and never a trap", () => {
  test("seeds and options", () => {
    expect(() => new Core(module, new Uint8Array(31))).toThrow(RangeError);
    expect(() => new Core(module, seed, new Map([[77, 1]]))).toThrow(RangeError);
    expect(() => new Core(module, seed, new Map([[OPTION.handshakeTimeout, Number.NaN]]))).toThrow(
      RangeError,
    );
    expect(() => new Core(module, seed, new Map([[OPTION.handshakeTimeout, 0]]))).toThrow(
      "handshake_timeout",
    );
    expect(() => new Core(module, seed, new Map([[OPTION.windowBytes, 1]]))).toThrow("window_bytes");
  });

  test("sockets, channels, carriers and times that do not exist", () => {
    const core = begin();
    expect(core.connect(0, 7, 0, token)).toBe(REFUSAL.badArgument);
    expect(core.connect(0, CARRIER.webtransport, 1_200, new Uint8Array(1_025))).toBe(REFUSAL.tokenTooLong);
    const socket = core.connect(0, CARRIER.webtransport, 1_200, token);
    expect(core.send(1, socket, 0, 1, token)).toBe(REFUSAL.notConnected);
    expect(core.send(1, 99, 0, 1, token)).toBe(REFUSAL.unknownConnection);
    expect(core.send(1, socket, 70_000, 1, token)).toBe(REFUSAL.badArgument);
    expect(core.datagram(1, 99, token)).toBe(REFUSAL.unknownConnection);
    expect(core.close(1, 99, 0, "", 0)).toBe(REFUSAL.unknownConnection);
    expect(core.settings(99)).toBeUndefined();
    for (const strange of [Number.NaN, -1, Infinity, -Infinity, 1e300]) {
      core.setPacketBytesMax(strange, socket, strange);
      core.setWritable(strange, 99, true);
      core.sendAccepted(strange, socket, 0, strange, token, strange);
      core.timeout(Number.isFinite(strange) && strange < 1e6 ? strange : 2);
      core.carrierLost(3, 99, "\u{fffd}");
    }
  });

  test("datagrams of any content and length", () => {
    const core = begin();
    const socket = core.connect(0, CARRIER.webtransport, 1_200, token);
    let random = 1;
    for (let count = 0; count < 5_000; count += 1) {
      random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
      const datagram = new Uint8Array(random % 1_600).map((_, at) => (random >> (at % 23)) ^ at);
      datagram[0] = 0x80 + (count % 16);
      core.datagram(count, socket, datagram);
      core.timeout(count);
      while (core.pollTransmit(count) !== undefined);
      while (core.pollEvent(count) !== undefined);
    }
    expect(core.datagram(5_001, socket, new Uint8Array(70_000))).toBe(0);
  });
});

test("clients that share a memory do not touch each other", () => {
  const [alone, ...others] = Array.from(
    { length: 200 },
    (_, at) =>
      new Core(
        module,
        seed.map(() => at),
      ),
  );
  const hello = (core: Core | undefined): number[] => [...(core?.pollTransmit(0)?.bytes ?? [])];
  const sockets = others.map((core) => core.connect(0, CARRIER.websocket, 0, token));
  expect(hello(alone)).toEqual([]);
  const hellos = others.map((core) => hello(core).join(" "));
  expect(new Set(hellos).size).toBe(199);
  // One has ended: the next one in its memory has its own options and socket.
  others[2]?.carrierLost(1, sockets[2] ?? 0, "gone");
  expect(others[2]?.pollEvent(1)?.kind).toBe(EVENT.closed);
  expect(others[3]?.pollEvent(1)).toBeUndefined();
  expect(others.map((core) => core.pollReleased())).toEqual(
    others.map((_, at) => (at === 2 ? sockets[2] : undefined)),
  );
});

test("refused options do not affect the next client", () => {
  const [narrow, bad] = [new Map([[OPTION.windowBytes, 2_048]]), new Map([[OPTION.windowBytes, 1]])];
  for (const wrong of [bad, new Map([...narrow, [77, 1]])]) {
    expect(() => new Core(module, seed, wrong)).toThrow(RangeError);
    const core = begin();
    const socket = core.connect(0, CARRIER.webtransport, 1_200, token);
    const other = new Core(module, seed);
    expect(core.statistics(socket)).toEqual(
      other.statistics(other.connect(0, CARRIER.webtransport, 1_200, token)),
    );
  }
});

test("each statistic has its name", () => {
  const core = begin();
  const socket = core.connect(0, CARRIER.webtransport, 1_200, token);
  const names = core.statisticsNames(socket);
  expect(core.statistics(socket)).toHaveLength(names.length);
  expect(new Set(names).size).toBe(names.length);
  for (const name of [
    "sent.ipBytes",
    "received.messages",
    "rtt.smoothed",
    "drops.not_authentic",
    "packetsLost",
  ]) {
    expect(names).toContain(name);
  }
});

test("the first datagram leaves at once, no longer than the session takes", () => {
  const core = begin();
  core.connect(0, CARRIER.webtransport, 1_024, token);
  const hello = core.pollTransmit(0);
  expect(hello?.bytes[0]).toBe(0x81);
  expect(hello?.bytes.length).toBe(64);
  expect(core.pollTransmit(0)).toBeUndefined();
  expect(core.pollTimeout()).toBeGreaterThan(0);
});

test("the same seed gives the same bytes", () => {
  const first = (): number[] => {
    const core = begin();
    core.connect(0, CARRIER.websocket, 0, token);
    return [...(core.pollTransmit(0)?.bytes ?? [])];
  };
  expect(first()).toEqual(first());
});
