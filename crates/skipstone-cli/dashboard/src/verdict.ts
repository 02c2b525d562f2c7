// What can be said about a stress run before it is over.

import { whole } from "./format";
import type { Frame, RunVerdict, StressProgress, StressView } from "./types";

export interface Verdict {
  tone: "idle" | "busy" | "good" | "bad";
  title: string;
  detail: string;
}

/** Stress clients of runs on other machines, as far as they have reported. */
export type Attached = Pick<Frame, "stress_waiting" | "stress_told">;

export function liveVerdict(stress: StressView, attached?: Attached): Verdict {
  const { phase, failure } = stress;
  const progress = progressOf(stress);
  if (phase === null) return attachedVerdict(attached) ?? endedVerdict(stress);
  if (phase === "connecting") {
    const there = progress
      ? `${whole(progress.clients_connected)} of ${whole(progress.clients_asked)}`
      : "the first";
    return { tone: "busy", title: "Connecting", detail: `${there} clients are there` };
  }
  const troubles = [
    progress && progress.clients_dropped > 0 ? `${whole(progress.clients_dropped)} clients dropped` : "",
    progress && progress.missing > 0 ? `${whole(progress.missing)} lines missing` : "",
    failure ?? "",
  ].filter((trouble) => trouble !== "");
  if (troubles.length > 0) return { tone: "bad", title: "Failing", detail: troubles.join(", ") };
  if (phase === "judging") {
    return { tone: "busy", title: "Judging", detail: "the last lines are on their way" };
  }
  const delivered =
    progress && progress.delivered > 0
      ? `${whole(progress.delivered)} lines arrived, none is missing`
      : "the first lines are due";
  return { tone: "good", title: "Passing so far", detail: delivered };
}

/** The figures of the last second; none in the first second of a phase, because the last ones are of the phase before. */
export function progressOf({ phase, progress }: StressView): StressProgress | null {
  return phase !== "connecting" && progress?.phase === "connecting" ? null : progress;
}

/** Runs elsewhere that are started and stopped from here; who started their clients judges them. */
function attachedVerdict(attached: Attached | undefined): Verdict | undefined {
  if (!attached) return undefined;
  const { stress_waiting: waiting, stress_told: told } = attached;
  const where = "The verdict appears in the terminal of that run.";
  if (told > 0)
    return {
      tone: "busy",
      title: "Running elsewhere",
      detail: `${clients(told)} until you stop them. ${where}`,
    };
  if (waiting > 0)
    return { tone: "idle", title: "Ready elsewhere", detail: `${clients(waiting)} to be started. ${where}` };
  return undefined;

  function clients(count: number): string {
    const verb = told > 0 ? "run" : "wait";
    return count === 1 ? `1 client ${verb}s` : `${whole(count)} clients ${verb}`;
  }
}

function endedVerdict({ failure, reports }: StressView): Verdict {
  if (failure) return { tone: "bad", title: "No result", detail: failure };
  const last = reports[0];
  if (!last)
    return {
      tone: "idle",
      title: "No run yet",
      detail: "Start one: every line is proven to arrive once, in order.",
    };
  const lines = `${whole(last.delivered)} of ${whole(last.expected)} lines arrived once, in order, unchanged`;
  const [tone, title] = VERDICTS[last.verdict];
  return { tone, title, detail: last.reasons.join(" ") || lines };
}

/** In the tones of the terminal and of reports. */
export const VERDICTS: Record<RunVerdict, [tone: "good" | "busy" | "bad", title: string]> = {
  pass: ["good", "Pass"],
  fail: ["bad", "Fail"],
  invalid: ["busy", "Invalid"],
  unavailable: ["bad", "Unavailable"],
  interrupted: ["busy", "Interrupted"],
};
