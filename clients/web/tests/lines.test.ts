// Lines of stress runs, as the tool writes them.

import { expect, test } from "vitest";
import { Lines, checksum } from "../stress/line";

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("the checksum is CRC-32", () => {
  expect(checksum(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
});

test("a line is read as it was written, at both ends of its numbers", () => {
  const lines = new Lines(0xbeef, 60);
  for (const [client, sequence, scheduledUs] of [
    [0, 0, 0],
    [3, 4, 5],
    [65_535, 2 ** 24 - 1, 2 ** 40 - 1],
  ] as const) {
    const line = lines.write(client, sequence, scheduledUs);
    expect(line.length).toBe(60);
    expect(lines.parse(line)).toEqual({ kind: "line", client, sequence, scheduledUs });
  }
});

test("the numbers have the digits that the tool gives them", () => {
  // Run 0x0000, client 0x4fd26f with the run in its upper half: the example of ZeroMQ RFC 32.
  const line = new Lines(0x864f, 20).write(0xd26f, 0, 0);
  expect(decode(line.subarray(5, 10))).toBe("Hello");
});

test("no changed byte passes as a line", () => {
  const lines = new Lines(7, 90);
  const good = lines.write(12, 345, 6_789_000);
  for (let at = 0; at < good.length; at += 1) {
    const bad = good.slice();
    bad[at] = (bad[at] ?? 0) ^ 1;
    expect(lines.parse(bad).kind).not.toBe("line");
  }
  expect(lines.parse(good.subarray(0, 60)).kind).toBe("corrupt");
  expect(lines.parse(new TextEncoder().encode("hello, is anybody there?")).kind).toBe("foreign");
  expect(new Lines(8, 90).parse(good).kind).toBe("foreign");
});

test("sentences have 20 to 115 bytes", () => {
  const lines = new Lines(1, undefined);
  const lengths = Array.from({ length: 5_000 }, (_, sequence) => lines.write(1, sequence, 0).length);
  expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([20, 115]);
});
