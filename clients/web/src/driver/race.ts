// Which carrier a connection gets: the first of a few that opens, where each has a start over the next (as RFC 8305
// does with addresses).

import { reasonOf } from "../errors";
import type { Carrier, Opening } from "./carrier";
import type { Clock, Timer } from "./clock";

/** A possible participant. */
export interface Contestant {
  /** For people. */
  name: string;
  open(): Opening;
}

/** A race that is on. */
export interface Race {
  /** The first that opens; if none does, an error that names each with its reason. */
  winner: Promise<Carrier>;
  cancel(): void;
}

/**
 * Starts the next one when the one before has failed, or after `headStart` milliseconds; all have failed after
 * `timeout`.
 */
export function race(
  contestants: readonly Contestant[],
  headStart: number,
  timeout: number,
  clock: Clock,
): Race {
  const openings: Opening[] = [];
  const failures: string[] = [];
  const timers = new Set<Timer>();
  let isOver = false;
  let settle!: { resolve(carrier: Carrier): void; reject(error: Error): void };
  const winner = new Promise<Carrier>((resolve, reject) => {
    settle = { resolve, reject };
  });

  const finish = (): void => {
    isOver = true;
    timers.forEach((timer) => timer.cancel());
  };
  const giveUp = (why: string): void => {
    finish();
    openings.forEach((opening) => opening.cancel());
    settle.reject(new Error(why));
  };
  const win = (opening: Opening, carrier: Carrier): void => {
    if (isOver) {
      carrier.close();
      return;
    }
    finish();
    openings.filter((other) => other !== opening).forEach((other) => other.cancel());
    settle.resolve(carrier);
  };
  const lose = (name: string, error: unknown): void => {
    failures.push(`${name}: ${reasonOf(error)}`);
    if (isOver) {
      return;
    }
    if (failures.length === contestants.length) {
      giveUp(failures.join("; "));
    } else if (openings.length === failures.length) {
      start();
    }
  };
  const start = (): void => {
    const contestant = contestants[openings.length];
    if (isOver || contestant === undefined) {
      return;
    }
    const opening = open(contestant);
    openings.push(opening);
    timers.add(clock.after(headStart, start));
    opening.ready.then(
      (carrier) => win(opening, carrier),
      (error: unknown) => lose(contestant.name, error),
    );
  };

  if (contestants.length === 0) {
    giveUp("this browser has no carrier for the URL");
  } else {
    start();
    timers.add(
      clock.after(timeout, () =>
        giveUp(`no answer within ${timeout} ms${failures.length ? "; " : ""}${failures.join("; ")}`),
      ),
    );
  }
  return { winner, cancel: () => (isOver ? undefined : giveUp("it was given up")) };
}

/** A constructor that throws has failed as one that does not open. */
function open(contestant: Contestant): Opening {
  try {
    return contestant.open();
  } catch (error) {
    return {
      ready: Promise.reject(error instanceof Error ? error : new Error(String(error))),
      cancel: () => undefined,
    };
  }
}
