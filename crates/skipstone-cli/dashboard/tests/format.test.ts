import { describe, expect, test } from "vitest";
import { byteRate, bytes, compact, milliseconds, percent, span, whole } from "../src/format";

describe("numbers as people read them", () => {
  test("have three digits at most, and a unit", () => {
    expect([0, 0.5, 12.34, 123.4, 999.4, 999.6, 1234, 1e6, 1.5e9].map(compact)).toEqual([
      "0",
      "0.5",
      "12.3",
      "123",
      "999",
      "1k",
      "1.23k",
      "1M",
      "1.5G",
    ]);
    expect(compact(-1234)).toBe("−1.23k");
    expect(bytes(1_234_567)).toBe("1.23 MB");
    expect(byteRate(999)).toBe("999 B/s");
  });

  test("times and shares keep what matters", () => {
    expect([0, 0.05, 0.25, 12.34, 1500].map(milliseconds)).toEqual([
      "0 ms",
      "50 µs",
      "0.25 ms",
      "12.3 ms",
      "1.5 s",
    ]);
    expect([0, 0.05, 1.234, 100].map(percent)).toEqual(["0%", "0.05%", "1.23%", "100%"]);
  });

  test("long ones are grouped", () => {
    expect(whole(1234567)).toBe("1\u202f234\u202f567");
    expect([0, 59, 60, 3601, 90_061].map(span)).toEqual(["0 s", "59 s", "1 min", "1 h", "1 d 1 h"]);
  });
});
