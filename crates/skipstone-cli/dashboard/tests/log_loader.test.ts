import { expect, test } from "vitest";
import { LogLoader } from "../src/log_loader";
import { LogStore } from "../src/log_store";
import type { LogLine } from "../src/types";

const line = (number: number): LogLine => [number, number, "event", "", `line ${number}`];

/** A server whose answers come when the test says so. */
class Server {
  readonly asked: { before: number | undefined; answer: (lines: LogLine[]) => void; fail: () => void }[] = [];

  readonly fetchBefore = (before: number | undefined): Promise<LogLine[]> =>
    new Promise((resolve, reject) => {
      this.asked.push({
        before,
        answer: resolve,
        fail: () => {
          reject(new Error("away"));
        },
      });
    });
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const numbers = (log: LogStore): number[] => log.lines.map(([number]) => number);

test("parts come newest first until there is nothing older", async () => {
  const [server, log] = [new Server(), new LogStore()];
  const loader = new LogLoader(log, server.fetchBefore);
  let parts = 0;
  const load = () => {
    void loader.load(() => {
      parts += 1;
    });
  };
  log.append([line(9)]);
  load();
  load();
  server.asked[0]?.answer([line(7), line(8)]);
  await settled();
  server.asked[1]?.answer([line(6)]);
  await settled();
  server.asked[2]?.answer([]);
  await settled();
  expect(server.asked.map(({ before }) => before)).toEqual([9, 7, 6]);
  expect(numbers(log)).toEqual([6, 7, 8, 9]);
  expect(parts).toBe(2);
});

test("a reset during a partial transfer leaves no gap", async () => {
  const [server, log] = [new Server(), new LogStore()];
  const loader = new LogLoader(log, server.fetchBefore);
  log.append([line(50)]);
  void loader.load(() => undefined);
  // Lines were missed: the log is fetched again.
  log.clear();
  loader.reset();
  void loader.load(() => undefined);
  server.asked[0]?.answer([line(48), line(49)]);
  await settled();
  expect(numbers(log)).toEqual([]);
  server.asked[1]?.answer([line(98), line(99)]);
  await settled();
  server.asked[2]?.answer([line(50), line(51)]);
  await settled();
  expect(server.asked.map(({ before }) => before)).toEqual([50, undefined, 98, 50]);
  expect(numbers(log)).toEqual([50, 51, 98, 99]);
});

test("what failed goes on at the next call, and a failure before a reset stops nothing", async () => {
  const [server, log] = [new Server(), new LogStore()];
  const loader = new LogLoader(log, server.fetchBefore);
  void loader.load(() => undefined);
  server.asked[0]?.fail();
  await settled();
  void loader.load(() => undefined);
  loader.reset();
  void loader.load(() => undefined);
  server.asked[1]?.fail();
  await settled();
  void loader.load(() => undefined);
  expect(server.asked).toHaveLength(3);
});
