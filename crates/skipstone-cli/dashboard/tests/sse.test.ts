import { expect, test } from "vitest";
import { SseParser, backOff } from "../src/sse";

test("events are whole wherever the stream is cut", () => {
  const text =
    'event: frame\ndata: {"t":1}\n\n: keep-alive\n\ndata: a\r\ndata: b\r\n\r\nevent: empty\n\ndata\n\n';
  const wanted = [
    { name: "frame", data: '{"t":1}' },
    { name: "message", data: "a\nb" },
    { name: "message", data: "" },
  ];
  for (let cut = 0; cut <= text.length; cut += 1) {
    const parser = new SseParser();
    expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))], String(cut)).toEqual(
      wanted,
    );
  }
  const letters = new SseParser();
  expect(Array.from(text).flatMap((letter) => letters.push(letter))).toEqual(wanted);
});

test("an event that is not finished is not told", () => {
  expect(new SseParser().push("data: half\n")).toEqual([]);
});

test("attempts become less frequent, but continue", () => {
  expect([0, 1, 2, 3, 10].map(backOff)).toEqual([250, 500, 1000, 2000, 5000]);
});
