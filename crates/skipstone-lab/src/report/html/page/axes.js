// Axes and curves, by uPlot.
const LOG_TICKS = [1, 10, 100, 1000, 10000].flatMap((ten) =>
  [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8].map((of) => of * ten),
);
const TICK_PIXELS = 22;
const milliTicks = (plot, least, most) => {
  const kept = [];
  for (const tick of LOG_TICKS.filter((tick) => tick >= least && tick <= most)) {
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
    size: 54,
    label: "ms",
    labelSize: 16,
    labelFont: "11px system-ui, sans-serif",
    splits: (plot, _axis, least, most) => milliTicks(plot, least, most),
    filter: (_plot, ticks) => ticks,
    values: (_plot, ticks) => ticks.map((tick) => (tick >= 1000 ? `${tick / 1000} s` : String(tick))),
  });
/** Logarithmic; `floor` is the least that can be, if that is known. */
const milliScale = (floor) => ({
  distr: 3,
  range: (_plot, least, most) => {
    const from = Math.max(Math.min(least ?? floor ?? 1, floor ?? Infinity), 0.01);
    return [from * 0.9, Math.max(most ?? from * 2, from * 1.5) * 1.12];
  },
});
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
  ctx.fillText(`the path's floor: ${ms(floor)} ms`, bbox.left + bbox.width - 4, y - 3 * devicePixelRatio);
  ctx.restore();
};
