import { expect, test } from "vitest";
import { closeCode, isTemporary, type Close } from "../src/close";
import { Destination, noticeOf } from "../src/driver/destination";
import type { CarrierChoice } from "../src/options";

const HOME: CarrierChoice[] = [
  { kind: "webtransport", url: "https://eu1.example:7777/game", hashes: [] },
  { kind: "websocket", url: "wss://eu1.example:7777/game" },
];
const restart = (reason: string): Close => ({ by: "peer", code: closeCode.restart, reason });
const urls = (destination: Destination): string[] => destination.carriers.map((choice) => choice.url);

test("a restart is followed to its address, and back if that server accepts no client", () => {
  const destination = new Destination(HOME);
  expect(destination.onClosed(restart("retry=0..0 at=eu2.example:9; the server restarts"), true)).toBe(false);
  expect(urls(destination)).toEqual(["https://eu2.example:9/game", "wss://eu2.example:9/game"]);
  expect(destination.onClosed({ by: "peer", code: 7, reason: "" }, false)).toBe(true);
  expect(urls(destination)).toEqual(HOME.map((choice) => choice.url));
});

test("no client is redirected before it is connected", () => {
  const destination = new Destination(HOME);
  destination.onClosed(restart("retry=0..0 at=evil.example:9"), false);
  expect(destination.carriers).toBe(HOME);
});

test("a notice is parsed as in WIRE.md", () => {
  expect(noticeOf(restart("retry=250..750 at=[2001:db8::1]:7; x"))).toEqual({
    after: 250,
    spread: 500,
    at: "[2001:db8::1]:7",
  });
  expect(noticeOf(restart("retry=0..99999999"))).toEqual({ after: 0, spread: 600_000 });
  for (const reason of [
    "",
    "retry=9..5",
    "retry=+1..2",
    "retry=1..2 at=a/b:1",
    "retry=1..2 at=a:0",
    "retry=1..2 at=u@h:1",
    "retry=1..2 at=a:65536",
  ]) {
    expect(noticeOf(restart(reason)), reason).toEqual({ after: 1_000, spread: 2_000 });
  }
  expect(noticeOf({ by: "peer", code: closeCode.shutdown, reason: "retry=1..2" })).toBeUndefined();
  expect(isTemporary(restart(""))).toBe(true);
});
