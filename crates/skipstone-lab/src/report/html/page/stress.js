// A stress run: its verdict, its figures, how late the latest lines are, and the clients that had the worst of it.
const run = result.result;
const HUES = { udp: 214, dtls: 252, ws: 32, wss: 350, tcp: 48, browser: 140, wt: 275 };
const colourOf = (name) => {
  const isDark = root.dataset.theme === "dark";
  return `hsl(${HUES[name] ?? 190} ${isDark ? 78 : 72}% ${isDark ? 66 : 40}%)`;
};
const counts = (one) => (one.parsed ??= parse(one.latencies, "*"));
const percentText = (value) => (value == null ? "–" : `${fixed(value, 1)}%`);
const kib = (value) => (value >= 1 << 20 ? `${fixed(value / (1 << 20), 1)} MiB` : `${fixed(value / 1024, 1)} KiB`);

const stressHead = () => {
  const { plan } = run;
  const isLate = run.generator.late_sends - run.generator.late_sends_in_stalls > 0;
  const impairment = run.impairment && Object.entries(run.impairment.settings).map(([key, value]) => `${key} ${value}`);
  return verdictCard({
    title: `${whole(run.clients.asked)} clients, ${plan.rate} each`,
    verdict: run.verdict,
    badges: [isLate ? ["the load was late", "busy"] : ["the load kept its schedule", "good"]],
    facts: [
      ["clients", plan.mix],
      ["lines", plan.size === "sentence" ? "a random sentence each" : `${plan.size} bytes each`],
      ["sent for", `${fixed(run.duration_s, 1)} s`],
      ["server", plan.url ?? "of the run's own"],
      ["transport", run.transport],
      ["bad network", impairment?.join(", ")],
      ["redundancy", plan.redundancy],
      ["seed", String(run.seed)],
      ["began", run.started],
      ["machine", machineText(run.machine)],
      ["stalls", run.stalls && `${run.stalls.count}, the longest ${ms(run.stalls.longest_ms)} ms`],
    ],
    reasons: run.reasons,
    thresholds: run.thresholds,
    command: [run.command[0].split(/[\\/]/).at(-1), ...run.command.slice(1)],
  });
};

const LINE_COLUMNS = [
  ["connected", (row) => row.clients.connected, whole, 0],
  ["dropped", (row) => row.clients.dropped, whole, 0],
  ["delivered", (row) => row.messages.delivered, whole, 0],
  ["lost", (row) => row.messages.lost, whole, 0],
  ["twice", (row) => row.messages.duplicated, whole, 0],
  ["disorder", (row) => row.messages.reordered, whole, 0],
  ["p50", (row) => row.latency_ms?.p50, (value) => fixed(value, 2), 0],
  ["p99", (row) => row.latency_ms?.p99, (value) => fixed(value, 2), 0],
  ["p99.9", (row) => row.latency_ms?.p999, (value) => fixed(value, 2), 0],
  ["max", (row) => row.latency_ms?.max, (value) => fixed(value, 2), 0],
  ["overhead", (row) => row.wire.overhead_percent, percentText, 0],
];
const isBad = (title, value) => ["dropped", "lost", "twice", "disorder"].includes(title) && value > 0;

const stressFigures = () => {
  const place = scroller("Figures");
  const carriers = run.carriers.map((one) => [one.carrier, one]);
  const rows = carriers.length > 1 ? [...carriers, ["all", run]] : carriers;
  const show = () => place.replaceChildren(figuresTable("ms", LINE_COLUMNS, rows, { colourOf, isBad }));
  redraws.push(show);
  const { server, generator } = run;
  const costs = [
    ["server's CPU", server?.cpu_percent != null && percentText(server.cpu_percent)],
    ["per delivery", server?.cpu_us_per_delivery != null && `${fixed(server.cpu_us_per_delivery, 2)} µs`],
    ["server's memory", server?.rss_bytes != null && kib(server.rss_bytes)],
    ["ticks", server?.ticks_per_second != null && `${fixed(server.ticks_per_second, 1)} a second`],
    ["slowest tick", server?.slowest_tick_ms != null && `${fixed(server.slowest_tick_ms, 1)} ms`],
    ["clients' CPU", generator.cpu_percent != null && percentText(generator.cpu_percent)],
    ["latest send", `${fixed(generator.latest_send_ms, 1)} ms`],
  ];
  return card(
    "Figures",
    "Latency is from the moment a line was due to its arrival at each client; overhead is what IP and the protocol add to the payload.",
    place,
    h(
      "ul",
      { class: "facts" },
      ...costs
        .filter(([, text]) => text)
        .map(([key, text]) => h("li", {}, h("span", { class: "muted" }, `${key} `), h("b", {}, text))),
    ),
  );
};

const stressPercentiles = () => {
  const kept = result.curves.filter((curve) => curve.latencies);
  if (kept.length === 0) return null;
  const host = h("div", { class: "plot" });
  let end = () => {};
  const show = () => {
    end();
    const all = kept.map((curve) => ({ counts: counts(curve), longest: curve.max }));
    const series = kept.map(({ name }) => ({
      label: name,
      stroke: () => colourOf(name),
      width: 2,
      points: { show: false },
      value: (_plot, value) => (value == null ? "" : ms(value)),
    }));
    end = percentileCurve(host, all, series, null);
  };
  redraws.push(show);
  return card("How late the latest are", "The share of lines that took no longer, by nines, by carrier.", host);
};
