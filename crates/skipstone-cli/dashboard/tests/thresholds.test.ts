import { expect, test } from "vitest";
import { LOSS_PERCENT, cpuPercent, levelOf, queuedBytes, tickMs } from "../src/thresholds";
import type { ServerFacts } from "../src/types";

const server = (facts: Partial<ServerFacts>) => facts as ServerFacts;

test("a figure is marked from its thresholds on, and what was not measured never is", () => {
  expect([null, 0, 0.99, 1, 4.99, 5, 100].map((value) => levelOf(value, LOSS_PERCENT))).toEqual([
    "",
    "",
    "",
    "busy",
    "busy",
    "bad",
    "bad",
  ]);
  expect(levelOf(1e9, null)).toBe("");
});

test("thresholds are those of the server", () => {
  expect(tickMs(server({ ticks_per_second: 50 }))).toEqual([20, 40]);
  expect(tickMs(server({ ticks_per_second: 0 }))).toBeNull();
  expect(cpuPercent(server({ shards: 4, cores: 2 }))).toEqual([140, 180]);
  expect(cpuPercent(server({ shards: 1, cores: 8 }))).toEqual([140, 180]);
  expect(queuedBytes(server({ queue_bytes_max: 1000 }))).toEqual([250, 750]);
});
