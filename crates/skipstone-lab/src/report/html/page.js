// The page of a comparison. It draws what the result beside it says; curves are uPlot's. All latencies of a run come as blocks of
// counts, from which percentiles of any share, over any time and any number of runs follow.
"use strict";
(() => {
  const result = JSON.parse(document.getElementById("result").textContent);
  const root = document.documentElement;

  // Elements.
  const h = (tag, options, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(options ?? {})) {
      if (key === "class") element.className = value;
      else if (key === "style") element.style.cssText = value;
      else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child != null));
    return element;
  };
  const fixed = (value, digits) => (value == null ? "–" : value.toFixed(digits));
  const ms = (value) => (value == null ? "–" : value < 100 ? value.toFixed(1) : Math.round(value).toString());
  const whole = (value) => (value == null ? "–" : Math.round(value).toLocaleString("en-US"));
  const css = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  // Themes: the system's, and light on paper.
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const plots = [];
  const applyTheme = (isDark) => {
    root.dataset.theme = isDark ? "dark" : "light";
    for (const plot of plots) plot.redraw(false, true);
  };
  root.dataset.theme = dark.matches ? "dark" : "light";
  dark.addEventListener("change", () => applyTheme(dark.matches));
  window.addEventListener("beforeprint", () => applyTheme(false));
  window.addEventListener("afterprint", () => applyTheme(dark.matches));

  // Transports: a hue for each family, members told apart by lightness and dashes.
  const nameOf = (row) => (row.mode ? `${row.transport} ${row.mode}` : row.transport);
  const conditions = [...new Set(result.results.map((row) => row.condition ?? ""))];
  const names = [...new Set(result.results.map(nameOf))];
  const HUES = { skipstone: 214, kcp: 32, quinn: 165, renet: 275, enet: 350, tcp: 48 };
  const SPARE_HUES = [320, 95, 190, 12];
  const families = new Map();
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 2]];
  const styles = new Map(
    names.map((name) => {
      const family = name.split(/[-: ]/)[0];
      if (!families.has(family)) {
        const known = HUES[family];
        const spare = [...families.keys()].filter((other) => !(other in HUES)).length;
        families.set(family, { hue: known ?? SPARE_HUES[spare % SPARE_HUES.length], members: 0 });
      }
      const found = families.get(family);
      const at = found.members++;
      return [name, { hue: found.hue, dash: DASHES[at % DASHES.length], step: at }];
    }),
  );
  const colourOf = (name) => {
    const { hue, step } = styles.get(name);
    const spread = [0, 12, -9, 20, 6, -4][step % 6];
    const light = root.dataset.theme === "dark" ? 66 + spread / 2 : 44 + spread / 1.5;
    return `hsl(${hue + (step % 3) * 7} ${root.dataset.theme === "dark" ? 78 : 72}% ${light}%)`;
  };

  // Latencies: counts by block.
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
  const rowsOf = (name, condition) =>
    result.results.filter((row) => nameOf(row) === name && (row.condition ?? "") === condition);
  const floorOf = (condition) => result.conditions?.find((one) => one.name === condition)?.floor ?? result.plan.floor;

  // Axes.
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
  const milliScale = (floor) => ({
    distr: 3,
    range: (_plot, least, most) => [
      Math.min(least ?? floor, floor) * 0.9,
      Math.max(most ?? floor * 2, floor * 1.5) * 1.12,
    ],
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
  const lines = () =>
    names.map((name) => ({
      label: name,
      stroke: () => colourOf(name),
      dash: styles.get(name).dash,
      width: name.endsWith("adaptive") ? 2.4 : 1.6,
      points: { show: false },
      value: (_plot, value) => (value == null ? "" : ms(value)),
    }));

  // Buttons of which one is pressed.
  const choice = (label, options, onChoose) => {
    const group = h("div", { class: "pick", role: "group", "aria-label": label });
    for (const [value, text] of options) {
      const button = h("button", { type: "button", "aria-pressed": "false" }, text);
      button.addEventListener("click", () => {
        for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
        onChoose(value);
      });
      group.append(button);
    }
    group.children[0]?.setAttribute("aria-pressed", "true");
    return group;
  };
  const card = (title, note, ...children) =>
    h("section", { class: "card" }, h("h2", {}, title), note ? h("p", { class: "note" }, note) : null, ...children);

  const page = document.getElementById("page");
  let condition = conditions[0];
  const redraws = [];

  const TONES = { pass: "good", fail: "bad", invalid: "bad", interrupted: "busy" };
  const VALID = { exact: "good", sound: "good", doubtful: "busy", unsound: "bad" };
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

  const head = () => {
    const { plan } = result;
    const seconds = Math.round(plan.minutes * 60);
    const facts = [
      [
        "workload",
        `${plan.entities} entities, ${plan.ticks_per_second} updates a second of ${plan.payload_bytes} bytes each, sent back at once`,
      ],
      [
        "link",
        Object.entries(plan.link)
          .map(([key, value]) => `${key} ${value}`)
          .join(", "),
      ],
      ["clock", result.over ? `real, over ${result.over}` : "virtual time"],
      ["each run", seconds >= 120 ? `${seconds / 60} minutes` : `${seconds} s`],
      ["seeds", result.seeds.join(", ")],
      ["began", result.started],
      ["machine", result.machine && `${result.machine.cpu}, ${result.machine.cores} cores, ${result.machine.kernel}`],
    ];
    const thresholds = result.thresholds.map((one) =>
      h(
        "li",
        { style: `color: var(--${one.passed ? "good" : "bad"})` },
        `${one.passed ? "kept" : "missed"}: ${one.expression} (${one.of ?? ""} ${fixed(one.actual, 3)})`,
      ),
    );
    return h(
      "section",
      { class: "card" },
      h(
        "div",
        { class: "head" },
        h("h1", {}, plan.name),
        h("span", { class: "badge", "data-tone": TONES[result.verdict] }, result.verdict),
        h("span", { class: "badge", "data-tone": VALID[result.validity.level] }, `validity: ${result.validity.level}`),
      ),
      plan.about ? h("p", { class: "note" }, plan.about) : null,
      h("p", { class: "note" }, `${result.validity.because[0].toUpperCase()}${result.validity.because.slice(1)}.`),
      h(
        "ul",
        { class: "facts" },
        ...facts
          .filter(([, text]) => text)
          .map(([key, text]) => h("li", {}, h("span", { class: "muted" }, `${key} `), h("b", {}, text))),
      ),
      result.reasons.length
        ? h("ul", { class: "reasons" }, ...result.reasons.map((reason) => h("li", {}, reason)))
        : null,
      thresholds.length ? h("ul", { class: "late" }, ...thresholds) : null,
      h(
        "code",
        { class: "again", tabindex: "0", role: "region", "aria-label": "The line that runs it again" },
        result.command.map(quoted).join(" "),
      ),
    );
  };

  const summaryOf = (name) =>
    result.summary.find((one) => nameOf(one) === name && (one.condition ?? "") === condition)?.median ?? {};

  const COLUMNS = [
    ["p50", (row) => row.p50, (value) => fixed(value, 2), 1],
    ["p99", (row) => row.p99, (value) => fixed(value, 2), 1],
    ["p99.8", (row) => row.p998, (value) => fixed(value, 2), 1],
    ["p99.99", (row) => row.p9999, (value) => fixed(value, 2), 1],
    ["max", (row) => row.max, (value) => fixed(value, 2), 1],
    ["calm p99.8", (row) => row.p998_calm, (value) => fixed(value, 2), 1],
    ["calm max", (row) => row.max_calm, (value) => fixed(value, 2), 1],
    ["bytes", (row) => row.bytes_per_payload, (value) => fixed(value, 3), 1],
    ["lost", (row) => row.lost, whole, 0],
    ["refused", (row) => row.refused || null, whole, 0],
    ["disorder", (row) => row.reordered, whole, 0],
    ["server CPU", (row) => row.server_cpu, (value) => `${fixed(value, 1)}%`, 1],
    [
      "stalled",
      (row) => (row.stalled == null ? null : row.stalled / Math.max(row.delivered, 1)),
      (value) => `${fixed(value * 100, 1)}%`,
      0,
    ],
    ["queue p95", (row) => row.queue_delay_p95, (value) => fixed(value, 1), 1],
    ["goodput", (row) => row.goodput_share, (value) => `${fixed(value * 100, 1)}%`, -1],
  ];
  const figures = () => {
    const place = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures" });
    const show = () => {
      const rows = names.map((name) => [name, summaryOf(name)]);
      const shown = COLUMNS.filter(([, of]) => rows.some(([, row]) => of(row) != null));
      const best = shown.map(([, of, show, sign]) => {
        const values = rows.map(([, row]) => of(row)).filter((value) => value != null);
        return sign === 0 || values.length < 2 ? null : show(sign > 0 ? Math.min(...values) : Math.max(...values));
      });
      place.replaceChildren(
        h(
          "table",
          { class: "figures" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "ms; bytes per payload byte"),
              ...shown.map(([title]) => h("th", { scope: "col" }, title)),
            ),
          ),
          h(
            "tbody",
            {},
            ...rows.map(([name, row]) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, h("span", { class: "swatch", style: `background: ${colourOf(name)}` }), name),
                ...shown.map(([title, of, show], at) => {
                  const value = of(row);
                  const text = value == null ? "–" : show(value);
                  const isBad = (title === "lost" || title === "disorder") && value > 0;
                  return h("td", { class: isBad ? "bad" : value != null && text === best[at] ? "best" : "" }, text);
                }),
              ),
            ),
          ),
        ),
      );
    };
    redraws.push(show);
    const over = result.seeds.length > 1 ? " Medians over the seeds." : "";
    return card(
      "Figures",
      `Latency is from the tick to the delivery of the echo, of every update; bytes are IP bytes of both directions per payload byte delivered there and back.${over}`,
      place,
    );
  };

  const percentiles = () => {
    const host = h("div", { class: "plot" });
    let end = () => {};
    const show = () => {
      end();
      const floor = floorOf(condition);
      const all = names.map((name) => rowsOf(name, condition));
      const most = Math.max(...all.map((rows) => rows.reduce((sum, row) => sum + row.delivered, 0)), 10);
      const last = Math.min(Math.max(Math.log10(most), 1), 6);
      const steps = Array.from({ length: 181 }, (_, at) => (at / 180) * last);
      const shares = steps.map((step) => 1 - 10 ** -step);
      const curves = all.map((rows) => {
        const counts = pooled(rows.flatMap(blocksOf));
        const total = counts.reduce((sum, [, count]) => sum + count, 0);
        const longest = Math.max(...rows.flatMap((row) => row.series.blocks.map((block) => block.max ?? 0)));
        const values = quantiles(counts, shares, longest);
        // Beyond one sample in all there is nothing to say.
        return values.map((value, at) => (10 ** steps[at] > total * 1.02 ? null : value));
      });
      const TICKS = [
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
      end = draw(
        host,
        Math.min(420, Math.max(300, host.clientWidth * 0.42)),
        {
          scales: { x: { time: false, range: () => [0, last] }, y: milliScale(floor) },
          axes: [
            axis({
              size: 30,
              splits: () =>
                TICKS.map(([at]) => at).filter((at) => at <= last && (host.clientWidth > 620 || Number.isInteger(at))),
              values: (_plot, ticks) => ticks.map((tick) => TICKS.find(([at]) => at === tick)?.[1] ?? ""),
            }),
            milliAxis(),
          ],
          series: [
            {
              label: "share",
              value: (_plot, value) => (value == null ? "" : `${((1 - 10 ** -value) * 100).toPrecision(6)}%`),
            },
            ...lines(),
          ],
        },
        [steps, ...curves],
        { draw: [floorLine(floor)] },
      );
    };
    redraws.push(show);
    return card(
      "How late the latest are",
      "The share of updates that took no longer, by nines; of all runs together. Choose a name to hide its curve.",
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
          axes: [axis({ size: 30, values: (_plot, ticks) => ticks.map((tick) => `${tick} s`) }), milliAxis()],
          series: [{ label: "from", value: (_plot, value) => (value == null ? "" : `${value} s`) }, ...lines()],
        },
        [Array.from({ length: count }, (_, at) => at * step), ...curves],
        { draw: [floorLine(floor)] },
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
      h("p", { class: "note" }, `Of the updates that were due within a block.${seed}`),
      host,
    );
  };

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
          axes: [axis({ size: 30, values: (_plot, ticks) => ticks.map((tick) => `${tick} s`) }), milliAxis()],
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
              `${ms(update.latency)} ms, due at ${update.at.toFixed(3)} s`,
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
        "The darker, the more updates took so long. Packets have their numbers by direction, from 0, as a capture has them.",
      ),
      host,
      keys,
      late,
    );
  };

  const PARTS = [
    ["payload", "b1"],
    ["IP and UDP or TCP headers", "b2"],
    ["redundancy: repairs and copies", "b3"],
    ["sent again", "b5"],
    ["protocol and the rest", "b4"],
  ];
  const bytes = () => {
    const place = h("div", { class: "bars" });
    const show = () => {
      const rows = names.map((name) => [name, summaryOf(name)]).filter(([, row]) => row.bytes_per_payload != null);
      const most = Math.max(...rows.map(([, row]) => row.bytes_per_payload));
      place.replaceChildren(
        ...rows.map(([name, row]) => {
          const per = (value) => (value ?? 0) / row.payload_bytes;
          const [headers, redundancy] = [per(row.header_bytes), per(row.redundancy_bytes)];
          // Messages that were sent again are counted by their payload, copies of them too: at most what the others leave.
          const left = Math.max(row.bytes_per_payload - 1 - headers - redundancy, 0);
          const parts = [1, headers, redundancy, Math.min(per(row.resent_bytes), left)];
          const rest = row.bytes_per_payload - parts.reduce((sum, part) => sum + part, 0);
          parts.push(Math.max(rest, 0));
          const told = PARTS.map(([part], at) => `${part} ${parts[at].toFixed(3)}`).join(", ");
          return h(
            "div",
            { class: "item" },
            h("span", {}, name),
            h(
              "div",
              { class: "bar", title: told, role: "img", "aria-label": told },
              ...parts.map((part, at) =>
                h("span", { style: `width: ${(part / most) * 100}%; background: var(--${PARTS[at][1]})` }),
              ),
            ),
            h("b", {}, row.bytes_per_payload.toFixed(3)),
          );
        }),
      );
    };
    redraws.push(show);
    const keys = h(
      "ul",
      { class: "keys" },
      ...PARTS.map(([part, colour]) =>
        h("li", {}, h("span", { class: "swatch", style: `background: var(--${colour})` }), part),
      ),
    );
    return card(
      "Bytes per payload byte",
      "Redundancy and what was sent again are told by the transport's own counters; where it has none, they are in the rest. What was sent again is estimated from messages.",
      place,
      keys,
    );
  };

  const cpu = () => {
    if (!result.results.some((row) => row.server_cpu != null)) return null;
    const place = h("div", { class: "bars" });
    const show = () => {
      const rows = names.map((name) => [name, summaryOf(name)]).filter(([, row]) => row.server_cpu != null);
      const most = Math.max(...rows.map(([, row]) => row.server_cpu), 0.1);
      place.replaceChildren(
        ...rows.map(([name, row]) =>
          h(
            "div",
            { class: "item" },
            h("span", {}, name),
            h(
              "div",
              { class: "bar", role: "img", "aria-label": `${fixed(row.server_cpu, 1)}%` },
              h("span", { style: `width: ${(row.server_cpu / most) * 100}%; background: ${colourOf(name)}` }),
            ),
            h("b", {}, `${fixed(row.server_cpu, 1)}%`),
          ),
        ),
      );
    };
    redraws.push(show);
    return card(
      "CPU of the server's process",
      "In percent of a core, while updates were sent; one client. What a server of many clients costs is what `skipstone bench` measures.",
      place,
    );
  };

  const matrix = () => {
    if (conditions.length < 2) return null;
    const place = h("div", {
      class: "scroll",
      tabindex: "0",
      role: "region",
      "aria-label": "Transports by conditions",
    });
    const FIGURES = { p998: "p99.8", p99: "p99", max: "max", bytes_per_payload: "bytes" };
    let chosen = "p998";
    const show = () => {
      const of = (name, one) =>
        result.summary.find((row) => nameOf(row) === name && (row.condition ?? "") === one)?.median[chosen];
      const best = conditions.map((one) => Math.min(...names.map((name) => of(name, one) ?? Infinity)));
      const cell = (value, least) => {
        if (value == null) return h("td", {}, "–");
        // From the best to four times as much.
        const share = Math.min(Math.log(value / least) / Math.log(4), 1);
        const colour = `color-mix(in srgb, var(--bad-soft) ${share * 100}%, var(--good-soft))`;
        return h(
          "td",
          { class: value === least ? "best" : "", style: `background: ${colour}` },
          chosen === "bytes_per_payload" ? fixed(value, 2) : ms(value),
        );
      };
      place.replaceChildren(
        h(
          "table",
          { class: "figures" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, FIGURES[chosen]),
              ...conditions.map((one) => h("th", { scope: "col" }, one)),
            ),
          ),
          h(
            "tbody",
            {},
            ...names.map((name) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, name),
                ...conditions.map((one, at) => cell(of(name, one), best[at])),
              ),
            ),
          ),
        ),
      );
    };
    redraws.push(show);
    const pick = choice("Figure", Object.entries(FIGURES), (value) => {
      chosen = value;
      show();
    });
    return h(
      "section",
      { class: "card" },
      h("div", { class: "row" }, h("h2", {}, "Transports by conditions"), pick),
      h("p", { class: "note" }, "Green is the best of its column, red four times as much or more."),
      place,
    );
  };

  const conditionPick = () => {
    if (conditions.length < 2) return null;
    const pick = choice(
      "Condition",
      conditions.map((one) => [one, one]),
      (value) => {
        condition = value;
        redraws.forEach((redraw) => redraw());
      },
    );
    return h("section", { class: "card row" }, h("h2", {}, "Condition"), pick);
  };

  page.append(
    ...[head(), matrix(), conditionPick(), figures(), percentiles(), windows(), timeline(), bytes(), cpu()].filter(
      Boolean,
    ),
  );
  page.append(h("footer", {}, "Written by skipstone. The file holds all its data and asks no network for anything."));
  redraws.forEach((redraw) => redraw());
  dark.addEventListener("change", () => redraws.forEach((redraw) => redraw()));
})();
