// Axes and curves, by uPlot.
const LOG_TICKS = [1, 10, 100, 1000, 10000].flatMap((ten) =>
  [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8].map((of) => of * ten),
);
/** Those of values without a unit, which may be any. */
const WIDE_TICKS = [0.01, 0.1, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9].flatMap((ten) =>
  [1, 2, 5].map((of) => of * ten),
);
const TICK_PIXELS = 22;
const logTicks = (all, plot, least, most) => {
  const kept = [];
  for (const tick of all.filter((tick) => tick >= least && tick <= most)) {
    const last = kept.at(-1);
    const room = last == null ? Infinity : plot.valToPos(last, "y") - plot.valToPos(tick, "y");
    if (room >= TICK_PIXELS) kept.push(tick);
  }
  return kept;
};
const axis = (more) => ({
  stroke: () => css("muted"),
  grid: { stroke: () => css("grid"), width: 1 },
  ticks: { show: false },
  font: "11px system-ui, sans-serif",
  ...more,
});
const milliAxis = () =>
  axis({
    size: 60,
    splits: (plot, _axis, least, most) => logTicks(LOG_TICKS, plot, least, most),
    filter: (_plot, ticks) => ticks,
    values: (_plot, ticks) => ticks.map((tick) => (tick >= 1000 ? `${tick / 1000} s` : `${tick} ms`)),
  });
const plainLogAxis = () =>
  axis({
    size: 60,
    splits: (plot, _axis, least, most) => logTicks(WIDE_TICKS, plot, least, most),
    filter: (_plot, ticks) => ticks,
    values: (_plot, ticks) => ticks.map(short),
  });
/** Logarithmic; `floor` is the least that can be, if that is known. */
const milliScale = (floor) => ({
  distr: 3,
  range: (_plot, least, most) => {
    const from = Math.max(Math.min(least ?? floor ?? 1, floor ?? Infinity), 0.01);
    return [from * 0.9, Math.max(most ?? from * 2, from * 1.5) * 1.12];
  },
});
/** Round numbers of one unit, from zero to `most`, about 40 pixels apart; `least` is the smallest step. */
const roundSplits = (most, unit, pixels, least = 0) => {
  const raw = Math.max(most / unit / Math.max(Math.floor(pixels / 40), 2), 1e-9);
  const ten = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max([1, 2, 5, 10].find((of) => of * ten >= raw * 0.999) * ten, least);
  const count = Math.floor(most / unit / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => at * step * unit);
};
const short = (value) => Number(value.toPrecision(6)).toLocaleString("en-US");
/** An axis from zero; `unitFor` gives the name and the size of the unit for the greatest value. */
const zeroAxis = (unitFor, least) =>
  axis({
    size: 64,
    splits: (plot, _axis, _least, most) =>
      roundSplits(most, unitFor(most)[1], plot.bbox.height / devicePixelRatio, least),
    filter: (_plot, ticks) => ticks,
    values: (plot, ticks) => {
      const [name, unit] = unitFor(plot.scales.y.max);
      return ticks.map((tick) => (tick === 0 ? "0" : `${short(tick / unit)}${name}`));
    },
  });
const countAxis = () => zeroAxis(() => ["", 1], 1);
const percentAxis = () => zeroAxis(() => ["%", 1]);
const bytesAxis = () =>
  zeroAxis((most) => {
    const [name, unit] = unitOf(most);
    return [` ${name}`, unit];
  });
/** Seconds of a run, in the largest unit of which all ticks are whole. */
const secondsAxis = () =>
  axis({
    size: 30,
    incrs: [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400],
    values: (_plot, ticks) => {
      const are = (unit) => ticks.at(-1) >= 2 * unit && ticks.every((tick) => tick % unit === 0);
      const [name, unit] = are(3600) ? ["h", 3600] : are(60) ? ["min", 60] : ["s", 1];
      return ticks.map((tick) => `${tick / unit} ${name}`);
    },
  });
/** The legend's choice of curves, by label: kept when a plot is redrawn, and the same in all plots of these curves. */
const choiceOf = (shown) => (plot, at, change) => {
  if (at == null || change.show == null) return;
  const { label } = plot.series[at];
  if (change.show) shown.add(label);
  else shown.delete(label);
  for (const other of plots.filter((one) => one !== plot)) {
    const same = other.series.findIndex((series) => series.label === label);
    if (same > 0 && other.series[same].show !== change.show) other.setSeries(same, { show: change.show }, false);
  }
};
const draw = (host, height, options, data, hooks) => {
  const plot = new uPlot(
    {
      width: Math.max(host.clientWidth, 200),
      height,
      padding: [10, 12, 0, 0],
      cursor: { drag: { x: false, y: false }, points: { size: 5 } },
      ...options,
      hooks: hooks ?? {},
    },
    data,
    host,
  );
  plots.push(plot);
  const observer = new ResizeObserver(() => {
    if (host.clientWidth > 0 && host.clientWidth !== plot.width) plot.setSize({ width: host.clientWidth, height });
  });
  observer.observe(host);
  return () => {
    observer.disconnect();
    plots.splice(plots.indexOf(plot), 1);
    plot.destroy();
  };
};
const floorLine = (floor) => (plot) => {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(floor, "y", true);
  ctx.save();
  ctx.strokeStyle = css("muted");
  ctx.fillStyle = css("muted");
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  ctx.fillText(`minimum of the path: ${digits(floor)} ms`, bbox.left + bbox.width - 4, y - 3 * devicePixelRatio);
  ctx.restore();
};
