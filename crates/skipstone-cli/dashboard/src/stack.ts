// Series on top of each other.

/** Sums from the bottom up: the last series is the sum of all. */
export function stack(series: number[][]): number[][] {
  const sums: number[][] = [];
  for (const values of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => value + (below?.[index] ?? 0)));
  }
  return sums;
}
