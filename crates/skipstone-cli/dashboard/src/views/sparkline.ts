// A small curve without axes.

/** A path through a box of 60 by 20. */
export function sparkline(values: number[]): string {
  const top = Math.max(...values, 1e-9);
  const step = 60 / Math.max(values.length - 1, 1);
  return values
    .map(
      (value, index) =>
        `${index === 0 ? "M" : "L"}${(index * step).toFixed(1)} ${(19 - (value / top) * 17).toFixed(1)}`,
    )
    .join("");
}
