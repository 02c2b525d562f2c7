import { describe, expect, test } from "vitest";
import { byteRate, bytes, count, milliseconds, orDash, percent, rate, span, whole } from "../src/format";

describe("numbers as people read them", () => {
  test("have about three digits and a unit, by the rules of the tool's tables", () => {
    expect([0, 999, 1234, 1e6, 1.5e9].map(count.text)).toEqual(["0", "999", "1.23k", "1.00M", "1.50G"]);
    expect([0, 59.94, 123.4, 12_345].map(rate.text)).toEqual(["0.0/s", "59.9/s", "123/s", "12.3k/s"]);
    expect([17, 1_234_567].map(bytes.text)).toEqual(["17 B", "1.23 MB"]);
    expect([999, 0].map(byteRate.text)).toEqual(["999 B/s", "0 B/s"]);
    expect([0, 0.05, 9.994, 12.34, 1500, 12_345].map(milliseconds.text)).toEqual([
      "0.00 ms",
      "0.05 ms",
      "9.99 ms",
      "12.3 ms",
      "1,500 ms",
      "12.3 s",
    ]);
    expect([0, 1.234, 100].map(percent.text)).toEqual(["0.0%", "1.2%", "100.0%"]);
  });

  test("keep their decimals when they change, so that the layout stays", () => {
    expect([1, 1.1, 1.11].map(milliseconds.text)).toEqual(["1.00 ms", "1.10 ms", "1.11 ms"]);
  });

  test("share a unit and decimals along an axis", () => {
    expect(byteRate.ticks([0, 500_000, 1_000_000, 1_500_000])).toEqual([
      "0",
      "0.5 MB/s",
      "1.0 MB/s",
      "1.5 MB/s",
    ]);
    expect(milliseconds.ticks([0, 0.5, 1])).toEqual(["0", "0.5 ms", "1.0 ms"]);
    expect(count.ticks([0, 10, 20])).toEqual(["0", "10", "20"]);
    expect(count.ticks([])).toEqual([]);
  });

  test("are dashes where nothing was measured", () => {
    expect([null, 0].map((value) => orDash(value, percent.text))).toEqual(["–", "0.0%"]);
  });

  test("long ones are grouped", () => {
    expect(whole(1234567)).toBe("1,234,567");
    expect([0, 59, 60, 3601, 90_061].map(span)).toEqual(["0 s", "59 s", "1 min", "1 h", "1 d 1 h"]);
  });
});
