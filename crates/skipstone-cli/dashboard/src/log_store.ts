// The lines of the log, by number, each once.

import type { LineKind, LogLine } from "./types";

export const LINES_MAX = 100_000;

export class LogStore {
  lines: LogLine[] = [];

  /** Adds lines that are newer than all. */
  append(lines: LogLine[]): void {
    const last = this.lines.at(-1)?.[0] ?? -1;
    this.lines.push(...lines.filter((line) => line[0] > last));
    if (this.lines.length > LINES_MAX) this.lines = this.lines.slice(-LINES_MAX);
  }

  /** Adds lines that are older than all; how many were. */
  prepend(lines: LogLine[]): number {
    const first = this.lines[0]?.[0] ?? Infinity;
    const older = lines.filter((line) => line[0] < first);
    const room = LINES_MAX - this.lines.length;
    const kept = room > 0 ? older.slice(-room) : [];
    this.lines = [...kept, ...this.lines];
    return kept.length;
  }

  /** The number of the oldest line. */
  get first(): number | undefined {
    return this.lines[0]?.[0];
  }

  clear(): void {
    this.lines = [];
  }
}

/** Lines of these kinds that have the text, whatever its case. */
export function filter(lines: LogLine[], kinds: ReadonlySet<LineKind>, text: string): LogLine[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "" && kinds.size === 3) return lines;
  const has = (line: LogLine) => `${line[3]} ${line[4]}`.toLowerCase().includes(wanted);
  return lines.filter((line) => kinds.has(line[2]) && (wanted === "" || has(line)));
}
