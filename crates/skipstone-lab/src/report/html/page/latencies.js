// All latencies of a run come as blocks of counts, from which percentiles of any share, over any time and any number of runs
// follow.
const parse = (text, sign) =>
  text
    .split(" ")
    .filter(Boolean)
    .map((word) => word.split(sign).map(Number));
const blocksOf = (row) => (row.series.parsed ??= row.series.blocks.map((block) => parse(block.latencies, "*")));
const pooled = (lists) => {
  const counts = new Map();
  for (const list of lists) for (const [micros, count] of list) counts.set(micros, (counts.get(micros) ?? 0) + count);
  return [...counts].sort((one, other) => one[0] - other[0]);
};
// The middle of a step of seven binary digits.
const middle = (micros) => (micros + 2 ** Math.max(Math.floor(Math.log2(Math.max(micros, 1))) - 6, 0) / 2) / 1000;
const quantiles = (counts, shares, longest) => {
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return shares.map(() => null);
  let at = 0;
  let seen = counts[0][1];
  return shares.map((share) => {
    const rank = Math.max(Math.ceil(total * share - 1e-9), 1);
    while (seen < rank && at + 1 < counts.length) seen += counts[++at][1];
    return Math.min(middle(counts[at][0]), longest ?? Infinity);
  });
};
