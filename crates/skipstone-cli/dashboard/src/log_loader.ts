// Fetches what was in the log before this page, newest first.

import type { LogStore } from "./log_store";
import type { LogLine } from "./types";

export class LogLoader {
  /** Counts the resets: what was asked for before one is not what is wanted after it. */
  private round = 0;
  private isLoaded = false;

  constructor(
    private readonly log: LogStore,
    private readonly fetchBefore: (line: number | undefined) => Promise<LogLine[]>,
  ) {}

  /** Loads everything once, and calls `onMore` for each part. After a failure the next call continues. */
  async load(onMore: () => void): Promise<void> {
    if (this.isLoaded) return;
    this.isLoaded = true;
    const { round } = this;
    for (;;) {
      let lines: LogLine[];
      try {
        lines = await this.fetchBefore(this.log.first);
      } catch {
        if (this.round === round) this.isLoaded = false;
        return;
      }
      // Older lines would be in front of a gap: what is between is asked for by another call.
      if (this.round !== round || this.log.prepend(lines) === 0) return;
      onMore();
    }
  }

  /** The log was cleared. */
  reset(): void {
    this.round += 1;
    this.isLoaded = false;
  }
}
