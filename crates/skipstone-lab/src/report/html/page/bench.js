// A bench: its verdict, a table of all rows, what a delivery costs each, latency percentiles, and the worst clients.
const bench = result.result;
const HUES = [214, 32, 165, 275, 350, 48, 95, 320, 130, 190];
const transportOf = (row) => (row.server == null ? row.transport : `${row.transport} of ${row.server}`);
const nameOf = (row) =>
  `${transportOf(row)}${row.variant == null ? "" : ` (${row.variant})`}, ${whole(row.clients)} clients`;
const transports = [...new Set(bench.results.map(transportOf))];
const alike = new Map();
const looks = new Map(
  bench.results.map((row) => {
    const family = transportOf(row);
    const step = alike.get(family) ?? 0;
    alike.set(family, step + 1);
    return [nameOf(row), { hue: HUES[transports.indexOf(family) % HUES.length], step }];
  }),
);
const colourOf = (name) => {
  const { hue, step } = looks.get(name);
  const isDark = root.dataset.theme === "dark";
  return `hsl(${hue} ${isDark ? 78 : 72}% ${(isDark ? 62 : 38) + (step % 4) * 8}%)`;
};

const benchHead = () => {
  const { plan } = bench;
  return verdictCard({
    title: `bench ${bench.preset}`,
    verdict: bench.verdict,
    facts: [
      ["load", `${fixed(plan.rate, 2)} lines a second of each client, ${plan.line_bytes} bytes each`],
      ["measured for", `${fixed(plan.duration_s, 1)} s after ${fixed(plan.warmup_s, 1)} s`],
      ["ticks", `${plan.ticks_per_second} a second`],
      ["rounds", String(plan.rounds)],
      ["network", plan.network],
      ["server's core", plan.server_cpu == null ? null : String(plan.server_cpu)],
      ["load in", `${plan.load_processes} processes`],
      ["flags", plan.resilience.join(" ")],
      ["machine", machineText(bench.machine)],
    ],
    reasons: bench.reasons,
    thresholds: bench.thresholds,
    command: result.command,
  });
};

// The terminal's columns, and further ones for which a page has room.
const BENCH_COLUMNS = [
  ["passed", (row) => row.passed, (value) => (value ? "yes" : "NO"), 0],
  ["us/line", (row) => row.cpu_us_per_delivery, digits, 0],
  ["ratio", (row) => row.ratio, digits, 0],
  ["lines/s", (row) => row.deliveries_per_second || null, whole, 0],
  ["p50", (row) => row.p50, digits, 0],
  ["p99", (row) => row.p99, digits, 0],
  ["p99.9", (row) => row.p999, digits, 0],
  ["max", (row) => row.max, digits, 0],
  ["overhead", (row) => row.overhead_percent, percentText, 0],
  ["memory", (row) => row.rss_bytes, bytesText, 0],
  ["each", (row) => row.rss_bytes_per_client, bytesText, 0],
  ["ticks/s", (row) => row.ticks_per_second, digits, 0],
  ["CPU", (row) => row.server_cpu_percent, percentText, 0],
  ["lost", (row) => row.lost, whole, 0],
  ["dropped", (row) => row.dropped, whole, 0],
  ["load's CPU", (row) => row.load_cpu_percent, percentText, 0],
  ["latest send", (row) => row.latest_send, (value) => fixed(value, 1), 0],
];

const benchFigures = () => {
  const place = scroller("Figures");
  const rows = bench.results.map((row) => [nameOf(row), row]);
  const isBad = (title, value) =>
    title === "passed" ? !value : (title === "lost" || title === "dropped") && value > 0;
  const show = () => place.replaceChildren(figuresTable("times in ms", BENCH_COLUMNS, rows, { colourOf, isBad }));
  redraws.push(show);
  const failed = bench.results.filter((row) => !row.passed);
  const why = failed.map((row) => h("li", {}, `${nameOf(row)}: ${row.reasons.join("; ")}`));
  return card(
    "Figures",
    `Of the round in the middle by CPU time. us/line is the server's user and system time per delivered line, ratio the same over that of ${bench.plan.ratio_of}; latency is from when a line was due; overhead is IP bytes of both directions beyond the payload; each is memory per client.`,
    place,
    why.length ? h("ul", { class: "reasons" }, ...why) : null,
  );
};

/** A bar for each row that has the figure; `span` has the least and the most over the rounds. */
const bars = (title, note, of, text, span) => {
  const kept = bench.results.filter((row) => of(row) != null);
  if (kept.length === 0) return null;
  const most = Math.max(...kept.map(of), 1e-9);
  const place = h("div", { class: "bars" });
  const show = () =>
    place.replaceChildren(
      ...kept.map((row) => {
        const name = nameOf(row);
        const told = [text(of(row)), span?.(row)].filter(Boolean).join(", ");
        const width = `width: ${(of(row) / most) * 100}%`;
        return h(
          "div",
          { class: "item" },
          h("span", {}, name),
          h(
            "div",
            { class: "bar", role: "img", title: told, "aria-label": told },
            h("span", { style: `${width}; background: ${colourOf(name)}` }),
          ),
          h("b", {}, text(of(row))),
        );
      }),
    );
  redraws.push(show);
  return card(title, note, place);
};

// More curves than these cannot be told apart.
const CURVES_MAX = 7;
const firstRows = (kept) => {
  if (kept.length <= CURVES_MAX) return kept;
  const most = Math.max(...kept.map(({ row }) => row.clients));
  const rank = ({ row }) => (transportOf(row) === "skipstone" ? -1 : (row.p99 ?? Infinity));
  return kept
    .filter(({ row }) => row.clients === most)
    .sort((one, other) => rank(one) - rank(other))
    .slice(0, CURVES_MAX);
};

const benchPercentiles = () => {
  const kept = bench.results
    .map((row, at) => ({ row, name: nameOf(row), ...result.curves[at] }))
    .filter((curve) => curve.latencies);
  if (kept.length === 0) return null;
  const host = h("div", { class: "plot" });
  const shown = new Set(firstRows(kept).map(({ name }) => name));
  let end = () => {};
  const show = () => {
    end();
    const all = kept.map((curve) => ({ counts: (curve.parsed ??= parse(curve.latencies, "*")), longest: curve.max }));
    const series = kept.map(({ name }) => ({
      label: name,
      stroke: () => colourOf(name),
      dash: [[], [7, 4], [2, 3], [10, 3, 2, 3]][looks.get(name).step % 4],
      width: 1.8,
      points: { show: false },
      value: (_plot, value) => (value == null ? "" : digits(value)),
    }));
    end = percentileCurve(host, all, series, shown, null);
  };
  redraws.push(show);
  const how =
    shown.size < kept.length
      ? "At first skipstone and the rows with the least p99, of the most clients; choose names to show or hide their curves."
      : "Choose a name to hide its curve.";
  return card("Latency percentiles", `The latency within which this share of the lines arrived. ${how}`, host);
};

const limits = () => {
  if (bench.limits.length === 0) return null;
  const place = scroller("Limits");
  const text = ({ transport, clients, failed }) =>
    `${transport} holds ${whole(clients)} clients${failed == null ? "" : `, and not ${whole(failed)}`}`;
  place.append(h("ul", { class: "late" }, ...bench.limits.map((limit) => h("li", {}, text(limit)))));
  return card("Limits", "The most clients with which everything arrived in time.", place);
};

const rounds = (row) =>
  row.rounds > 1 && row.cpu_us_per_delivery_least != null
    ? `${fixed(row.cpu_us_per_delivery_least, 2)} to ${fixed(row.cpu_us_per_delivery_most, 2)} over ${row.rounds} rounds`
    : null;
page.append(
  ...[
    benchHead(),
    benchFigures(),
    bars(
      "CPU of the server for each delivery",
      "User and system time of the server's process, in µs.",
      (row) => row.cpu_us_per_delivery,
      (value) => fixed(value, 2),
      rounds,
    ),
    benchPercentiles(),
    bars(
      "Bytes",
      "IP bytes of both directions beyond the payload, in percent of it.",
      (row) => row.overhead_percent,
      percentText,
    ),
    worstClients(bench.results.map((row, at) => [nameOf(row), result.worst_clients[at]])),
    limits(),
  ].filter(Boolean),
);
