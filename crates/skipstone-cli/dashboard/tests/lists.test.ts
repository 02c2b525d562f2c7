import { describe, expect, test } from "vitest";
import { FRAMES_MAX, Frames, carriers } from "../src/frames";
import { LINES_MAX, LogStore, filter } from "../src/log_store";
import { stack } from "../src/stack";
import type { Frame, LineKind, LogLine } from "../src/types";
import { sparkline } from "../src/views/sparkline";
import { visible } from "../src/virtual";

const frame = (t: number, names: Record<string, number> = {}) => ({ t, carriers: names }) as Frame;
const line = (number: number, kind: LineKind = "event", speaker = "", text = `line ${number}`): LogLine => [
  number,
  0,
  kind,
  speaker,
  text,
];
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => line(from + index));

describe("frames", () => {
  test("are kept once, in order, for an hour", () => {
    const frames = new Frames();
    frames.add(frame(1000), frame(2000), frame(2000), frame(1500), frame(3000));
    expect(frames.window(60).map(({ t }) => t)).toEqual([1000, 2000, 3000]);
    expect(frames.window(1).map(({ t }) => t)).toEqual([2000, 3000]);
    frames.add(...Array.from({ length: FRAMES_MAX + 5 }, (_, index) => frame(10_000 + index * 1000)));
    expect(frames.window(1e9).length).toBe(FRAMES_MAX);
  });

  test("name every carrier that there was", () => {
    expect(carriers([frame(1, { ws: 1 }), frame(2, { udp: 2 }), frame(3)])).toEqual(["udp", "ws"]);
  });

  test("are stacked from the bottom up", () => {
    expect(
      stack([
        [1, 2],
        [10, 20],
        [100, 200],
      ]),
    ).toEqual([
      [1, 2],
      [11, 22],
      [111, 222],
    ]);
    expect(stack([])).toEqual([]);
  });

  test("become a line in a box", () => {
    expect(sparkline([0, 10])).toBe("M0.0 19.0L60.0 2.0");
    expect(sparkline([])).toBe("");
    expect(sparkline([0, 0])).toBe("M0.0 19.0L60.0 19.0");
  });
});

describe("lines of the log", () => {
  test("are there once, whether they come from the stream or from the past", () => {
    const log = new LogStore();
    log.append(range(10, 12));
    log.append(range(11, 14));
    expect(log.prepend(range(5, 12))).toBe(5);
    expect(log.prepend(range(5, 12))).toBe(0);
    expect(log.lines.map(([number]) => number)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect(log.first).toBe(5);
  });

  test("are a hundred thousand at most, the newest", () => {
    const log = new LogStore();
    log.append(range(1000, 1000 + LINES_MAX));
    expect(log.prepend(range(0, 1000))).toBe(0);
    log.append(range(1000 + LINES_MAX, 1003 + LINES_MAX));
    expect([log.lines.length, log.first]).toEqual([LINES_MAX, 1003]);
  });

  test("are found by kind, speaker and text, whatever the case", () => {
    const lines = [line(1), line(2, "chat", "Zoë", "Hello"), line(3, "say", "server", "bye")];
    const all = new Set<LineKind>(["event", "chat", "say"]);
    expect(filter(lines, all, "")).toBe(lines);
    expect(filter(lines, all, "ZOË").map(([number]) => number)).toEqual([2]);
    expect(filter(lines, new Set<LineKind>(["event"]), "").map(([number]) => number)).toEqual([1]);
  });
});

describe("a long list", () => {
  test("draws what is in sight and little else", () => {
    expect(visible(0, 240, 24, 100_000)).toEqual({ from: 0, to: 22 });
    expect(visible(24_000, 240, 24, 100_000)).toEqual({ from: 988, to: 1022 });
    expect(visible(1e9, 240, 24, 50)).toEqual({ from: 50, to: 50 });
    expect(visible(0, 240, 24, 0)).toEqual({ from: 0, to: 0 });
  });
});
