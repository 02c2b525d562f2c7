import { expect, test } from "vitest";
import type { ReportSummary, RunVerdict, StressProgress, StressView } from "../src/types";
import { liveVerdict } from "../src/verdict";

const idle: StressView = {
  phase: null,
  elapsed_s: 0,
  duration_s: 10,
  order: null,
  progress: null,
  failure: null,
  reports: [],
};
const progress = (more: Partial<StressProgress>) =>
  ({
    clients_connected: 5,
    clients_asked: 9,
    clients_dropped: 0,
    delivered: 7,
    missing: 0,
    ...more,
  }) as StressProgress;
const report = (verdict: RunVerdict, reasons: string[]) =>
  ({ verdict, reasons, delivered: 9, expected: 10 }) as ReportSummary;
const said = (stress: Partial<StressView>) => {
  const { tone, title, detail } = liveVerdict({ ...idle, ...stress });
  return `${tone} ${title}: ${detail}`;
};

test("a run is judged while it goes on", () => {
  expect(said({ phase: "connecting", progress: progress({}) })).toBe(
    "busy Connecting: 5 of 9 clients are there",
  );
  expect(said({ phase: "running" })).toBe("good Passing so far: the first lines are due");
  expect(said({ phase: "running", progress: progress({}) })).toBe(
    "good Passing so far: 7 lines arrived, none is missing",
  );
  // The figures of the last second are still those of connecting.
  expect(said({ phase: "running", progress: progress({ phase: "connecting" }) })).toBe(
    "good Passing so far: the first lines are due",
  );
  expect(said({ phase: "running", progress: progress({ missing: 3, clients_dropped: 2 }) })).toBe(
    "bad Failing: 2 clients dropped, 3 lines missing",
  );
  expect(said({ phase: "judging", progress: progress({}) })).toBe(
    "busy Judging: the last lines are on their way",
  );
});

test("a run that has ended has the verdict of its process", () => {
  expect(said({})).toMatch(/^idle No run yet/);
  expect(said({ reports: [report("pass", [])] })).toMatch(/^good Pass: 9 of 10 lines/);
  expect(said({ reports: [report("fail", ["It was slow."])] })).toBe("bad Fail: It was slow.");
  expect(said({ reports: [report("invalid", ["Busy."])] })).toBe("busy Invalid: Busy.");
  expect(said({ reports: [report("unavailable", ["No server."])] })).toBe("bad Unavailable: No server.");
  expect(said({ reports: [report("interrupted", [])] })).toMatch(/^busy Interrupted: 9 of 10 lines/);
  expect(said({ failure: "it ended", reports: [report("pass", [])] })).toBe("bad No result: it ended");
});

test("clients of other runs are distinguished by whether they accept commands", () => {
  const of = (stress_waiting: number, stress_told: number) => {
    const { tone, title, detail } = liveVerdict(idle, { stress_waiting, stress_told });
    return `${tone} ${title}: ${detail}`;
  };
  expect(of(0, 0)).toMatch(/^idle No run yet/);
  expect(of(100, 0)).toMatch(/^idle Ready elsewhere: 100 clients wait to be started\./);
  expect(of(0, 1)).toMatch(/^busy Running elsewhere: 1 client runs until you stop them\./);
});
