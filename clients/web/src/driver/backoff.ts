// The pause before the next attempt.

import type { Reconnect } from "../options";
import type { Clock } from "./clock";
import { PAUSE_MAX, PAUSE_MIN, type RestartNotice } from "./destination";

/**
 * Pauses that double with each failure, with a random half: clients that lost a server together reconnect at different
 * times.
 */
export class Backoff {
  readonly #reconnect: Required<Reconnect>;
  readonly #clock: Clock;
  #failures = 0;

  constructor(reconnect: Required<Reconnect>, clock: Clock) {
    this.#reconnect = reconnect;
    this.#clock = clock;
  }

  /**
   * Milliseconds until the next attempt; `undefined` after the maximum number of consecutive attempts. A restarting
   * server has stated the time.
   */
  next(notice?: RestartNotice): number | undefined {
    const { pauseMin, pauseMax, attemptsMax } = this.#reconnect;
    if (this.#failures >= attemptsMax) {
      return undefined;
    }
    const pause = Math.min(pauseMin * 2 ** this.#failures, pauseMax);
    this.#failures += 1;
    if (notice !== undefined) {
      const asked = Math.min(notice.after + notice.spread * this.#clock.random(), PAUSE_MAX);
      return Math.max(asked, PAUSE_MIN, pauseMin / 2);
    }
    return pause / 2 + (pause / 2) * this.#clock.random();
  }

  /** A connection was established. */
  reset(): void {
    this.#failures = 0;
  }
}
