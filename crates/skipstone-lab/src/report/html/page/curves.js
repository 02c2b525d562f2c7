// Curves: latency by percentile, and percentiles over time.
const percentiles = () => {
  const host = h("div", { class: "plot" });
  let end = () => {};
  const show = () => {
    end();
    const all = names.map((name) => {
      const rows = rowsOf(name, condition);
      const longest = Math.max(...rows.flatMap((row) => row.series.blocks.map((block) => block.max ?? 0)));
      return { counts: pooled(rows.flatMap(blocksOf)), longest };
    });
    end = percentileCurve(host, all, lines(), shownCurves, floorOf(condition));
  };
  redraws.push(show);
  return card(
    "Latency percentiles",
    `The latency within which this share of the updates was echoed, over all runs together. ${curvesNote}`,
    host,
  );
};

const windows = () => {
  const host = h("div", { class: "plot" });
  const SHARES = { p50: 0.5, p99: 0.99, "p99.8": 0.998, max: 1 };
  let chosen = "p99";
  let end = () => {};
  const show = () => {
    end();
    const all = names.map((name) => rowsOf(name, condition).find((row) => row.seed === result.seeds[0]));
    const step = Math.max(...all.map((row) => row?.series.block_s ?? 0));
    const count = Math.max(...all.map((row) => row?.series.blocks.length ?? 0));
    const curves = all.map((row) =>
      Array.from({ length: count }, (_, at) => {
        const block = row?.series.blocks[at];
        if (!block) return null;
        return chosen === "max" ? block.max : quantiles(blocksOf(row)[at], [SHARES[chosen]], block.max)[0];
      }),
    );
    const floor = floorOf(condition);
    end = draw(
      host,
      Math.min(340, Math.max(260, host.clientWidth * 0.32)),
      {
        scales: { x: { time: false }, y: milliScale(floor) },
        axes: [secondsAxis(), milliAxis()],
        series: [
          { label: "time", value: (_plot, value) => (value == null ? "" : `${value} s`) },
          ...lines().map((line) => ({ ...line, show: shownCurves.has(line.label) })),
        ],
      },
      [Array.from({ length: count }, (_, at) => at * step), ...curves],
      { draw: [floorLine(floor)], setSeries: [choiceOf(shownCurves)] },
    );
  };
  redraws.push(show);
  const pick = choice(
    "Percentile",
    [
      ["p99", "p99"],
      ["p50", "p50"],
      ["p99.8", "p99.8"],
      ["max", "max"],
    ],
    (value) => {
      chosen = value;
      show();
    },
  );
  const seed = result.seeds.length > 1 ? ` Of seed ${result.seeds[0]}.` : "";
  return h(
    "section",
    { class: "card" },
    h("div", { class: "row" }, h("h2", {}, "Over time"), pick),
    h("p", { class: "note" }, `Each point covers the updates that were due in one block of time.${seed}`),
    host,
  );
};
