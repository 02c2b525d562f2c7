// Which rows of a long list are to be drawn.

export interface Range {
  from: number;
  to: number;
}

/** The rows in sight, and a few above and below. */
export function visible(scrollTop: number, height: number, rowHeight: number, count: number): Range {
  const spare = 12;
  const first = Math.floor(scrollTop / rowHeight) - spare;
  const last = Math.ceil((scrollTop + height) / rowHeight) + spare;
  const to = Math.max(0, Math.min(count, last));
  return { from: Math.min(to, Math.max(0, first)), to };
}
