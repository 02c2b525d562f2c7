// One run: every latency over time, lost packets beneath, stalls behind.
const timeline = () => {
  const host = h("div", { class: "plot" });
  const late = h("ul", { class: "late" });
  const select = h("select", { "aria-label": "Run", onchange: () => show() });
  let end = () => {};
  const fill = () => {
    const rows = result.results.filter((row) => (row.condition ?? "") === condition);
    select.replaceChildren(
      ...rows.map((row, at) =>
        h(
          "option",
          { value: String(at) },
          result.seeds.length > 1 ? `${nameOf(row)}, seed ${row.seed}` : nameOf(row),
        ),
      ),
    );
    const wanted = rows.findIndex((row) => row.mode === "adaptive");
    select.value = String(Math.max(wanted, 0));
    show();
  };
  const show = () => {
    end();
    end = () => {};
    late.replaceChildren();
    const row = result.results.filter((one) => (one.condition ?? "") === condition)[Number(select.value)];
    if (!row || row.series.blocks.length === 0) return;
    const { series } = row;
    const blocks = blocksOf(row);
    const length = series.blocks.length * series.block_s;
    const lost = [parse(series.lost_up, "#"), parse(series.lost_down, "#")];
    const stalls = parse(series.stalls, "+");
    const floor = floorOf(condition);
    const most = Math.max(...series.blocks.map((block) => block.max ?? 0), floor * 1.5);
    // What took no longer than the path is not late.
    const late_ones = series.latest.filter((update) => update.latency > floor * 1.1 + 1);
    const most_count = Math.max(...blocks.flat().map(([, count]) => count), 1);
    const heat = (plot) => {
      const { ctx, bbox } = plot;
      const px = devicePixelRatio;
      const x = (at) => plot.valToPos(at, "x", true);
      const y = (at) => plot.valToPos(at, "y", true);
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.fillStyle = css("busy-soft");
      for (const [at, millis] of stalls)
        ctx.fillRect(x(at), bbox.top, Math.max(x(at + millis / 1000) - x(at), px), bbox.height);
      ctx.fillStyle = colourOf(nameOf(row));
      blocks.forEach((block, at) => {
        const [from, to] = [x(at * series.block_s), x((at + 1) * series.block_s)];
        // Cells in steps of 3%, as tall as they are drawn.
        const cells = new Map();
        for (const [micros, count] of block) {
          const cell = Math.floor(Math.log(middle(micros)) / Math.log(1.03));
          cells.set(cell, (cells.get(cell) ?? 0) + count);
        }
        for (const [cell, count] of cells) {
          const [top, bottom] = [y(1.03 ** (cell + 1)), y(1.03 ** cell)];
          ctx.globalAlpha = 0.18 + 0.82 * (Math.log(count + 1) / Math.log(most_count + 1));
          ctx.fillRect(from, top, Math.max(to - from - px / 2, px), Math.max(bottom - top, px));
        }
      });
      ctx.globalAlpha = 1;
      const foot = bbox.top + bbox.height;
      lost.forEach((packets, way) => {
        ctx.fillStyle = way === 0 ? css("bad") : css("b5");
        for (const [at] of packets) ctx.fillRect(x(at), foot - (way === 0 ? 20 : 9) * px, px, 8 * px);
      });
      ctx.strokeStyle = css("text");
      ctx.lineWidth = px;
      for (const update of late_ones) {
        ctx.beginPath();
        ctx.arc(x(update.at), y(update.latency), 2.5 * px, 0, 7);
        ctx.stroke();
      }
      ctx.restore();
    };
    end = draw(
      host,
      Math.min(360, Math.max(280, host.clientWidth * 0.34)),
      {
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: () => [0, length] },
          // Room for the lost packets beneath.
          y: { distr: 3, range: () => [floor * 0.72, most * 1.12] },
        },
        axes: [secondsAxis(), milliAxis()],
        series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
      },
      [
        [0, length],
        [floor, most],
      ],
      { draw: [heat, floorLine(floor)] },
    );
    late.append(
      ...late_ones
        .slice(0, 12)
        .map((update) =>
          h(
            "li",
            {},
            `${digits(update.latency)} ms, due at ${update.at.toFixed(3)} s`,
            h(
              "span",
              { class: "muted" },
              update.is_stalled
                ? ": the machine stalled meanwhile"
                : update.lost.length
                  ? `: lost meanwhile ${update.lost.join(", ")}`
                  : "",
            ),
          ),
        ),
    );
  };
  redraws.push(fill);
  const keys = h(
    "ul",
    { class: "keys" },
    h(
      "li",
      {},
      h("span", { class: "swatch", style: "background: var(--bad)" }),
      "packet lost on the way to the server",
    ),
    h("li", {}, h("span", { class: "swatch", style: "background: var(--b5)" }), "on the way back"),
    result.over
      ? h("li", {}, h("span", { class: "swatch", style: "background: var(--busy-soft)" }), "stall of the machine")
      : null,
    h("li", {}, "○ one of the latest updates"),
  );
  return h(
    "section",
    { class: "card" },
    h("div", { class: "row" }, h("h2", {}, "One run, all its updates"), select),
    h(
      "p",
      { class: "note" },
      "The darker a point, the more updates had that latency. Packet numbers count from 0 in each direction, as in a capture.",
    ),
    host,
    keys,
    late,
  );
};
