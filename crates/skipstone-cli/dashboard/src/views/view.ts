// A view of the page: one is shown at a time.

import type { Frames } from "../frames";
import type { LogStore } from "../log_store";
import type { LogLine, ServerFacts, StressView } from "../types";

/** What the views share. */
export interface Model {
  server: ServerFacts | undefined;
  stress: StressView | undefined;
  readonly frames: Frames;
  readonly log: LogStore;
}

export interface View {
  readonly element: HTMLElement;
  /** The rest of the address: #/clients/12.3 has "12.3". */
  open(rest: string): void;
  close(): void;
  onFrame?(): void;
  onLog?(lines: LogLine[]): void;
  onStress?(): void;
  /** The log starts again, because lines may have been missed. */
  onLogReset?(): void;
}
