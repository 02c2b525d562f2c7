// Latency by percentile, on the axis of HDR histograms: each nine has the same width.
const NINES = [
  [0, "0%"],
  [0.30103, "50%"],
  [1, "90%"],
  [2, "99%"],
  [2.69897, "99.8%"],
  [3, "99.9%"],
  [4, "99.99%"],
  [5, "99.999%"],
  [6, "99.9999%"],
];

/** Draws `all` (counts, and the longest in ms) with the looks of `series`. The series in `shown` are visible at first;
 * `floor` is in ms, or null. Returns a function that ends it. */
const percentileCurve = (host, all, series, shown, floor, valueAxis = milliAxis) => {
  const totals = all.map(({ counts }) => counts.reduce((sum, [, count]) => sum + count, 0));
  const last = Math.min(Math.max(Math.log10(Math.max(...totals, 10)), 1), 6);
  const steps = Array.from({ length: 181 }, (_, at) => (at / 180) * last);
  const shares = steps.map((step) => 1 - 10 ** -step);
  const curves = all.map(({ counts, longest }, which) => {
    const values = quantiles(counts, shares, longest);
    // A share of less than one sample has no value.
    return values.map((value, at) => (10 ** steps[at] > totals[which] * 1.02 ? null : value));
  });
  const isShown = (at) => at <= last && (host.clientWidth > 620 || Number.isInteger(at));
  return draw(
    host,
    Math.min(420, Math.max(300, host.clientWidth * 0.42)),
    {
      scales: { x: { time: false, range: () => [0, last] }, y: milliScale(floor) },
      axes: [
        axis({
          size: 30,
          splits: () => NINES.map(([at]) => at).filter(isShown),
          values: (_plot, ticks) => ticks.map((tick) => NINES.find(([at]) => at === tick)?.[1] ?? ""),
        }),
        valueAxis(),
      ],
      series: [
        {
          label: "share",
          value: (_plot, value) => (value == null ? "" : `${((1 - 10 ** -value) * 100).toPrecision(6)}%`),
        },
        ...series.map((one) => ({ ...one, show: shown.has(one.label) })),
      ],
    },
    [steps, ...curves],
    { draw: floor == null ? [] : [floorLine(floor)], setSeries: [choiceOf(shown)] },
  );
};

/** A card of distributions: each a name, its counts as text, and its greatest value. */
const percentilesCard = (title, note, curves, colourOf, valueAxis = milliAxis) => {
  if (curves.length === 0) return null;
  const host = h("div", { class: "plot" });
  const shown = new Set(curves.map(({ name }) => name));
  let end = () => {};
  const show = () => {
    end();
    const all = curves.map((curve) => ({ counts: (curve.parsed ??= parse(curve.latencies, "*")), longest: curve.max }));
    const series = curves.map(({ name }) => ({
      label: name,
      stroke: () => colourOf(name),
      width: 2,
      points: { show: false },
      value: (_plot, value) => (value == null ? "" : digits(value)),
    }));
    end = percentileCurve(host, all, series, shown, null, valueAxis);
  };
  redraws.push(show);
  return card(title, note, host);
};
