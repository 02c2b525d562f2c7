// A stress run: its verdict, its figures, how late the latest lines are, and the clients that had the worst of it.
const run = result.result;
const HUES = { udp: 214, dtls: 252, ws: 32, wss: 350, tcp: 48, browser: 140, wt: 275 };
const colourOf = (name) => {
  const isDark = root.dataset.theme === "dark";
  return `hsl(${HUES[name] ?? 190} ${isDark ? 78 : 72}% ${isDark ? 66 : 40}%)`;
};
const counts = (one) => (one.parsed ??= parse(one.latencies, "*"));

const stressHead = () => {
  const { plan } = run;
  const isLate = run.generator.late_sends - run.generator.late_sends_in_stalls > 0;
  return verdictCard({
    title: document.title,
    verdict: run.verdict,
    sentence: result.verdict_sentence,
    badges: [isLate ? ["the load was late", "busy"] : ["the load kept its schedule", "good"]],
    facts: [
      ["clients", plan.mix],
      ["server", plan.url ?? "of the run's own"],
      ["transport", run.transport],
      ["began", run.started],
    ],
    reasons: run.reasons,
    thresholds: run.thresholds,
    command: [run.command[0].split(/[\\/]/).at(-1), ...run.command.slice(1)],
  });
};

const count = (title, of) => [title, of, whole, 0];
const latency = (title, share) => [title, (row) => row.latency_ms?.[share], digits, 0];
// The rows of the terminal's table, as columns.
const LINE_COLUMNS = [
  count("connected", (row) => row.clients.connected),
  count("dropped", (row) => row.clients.dropped),
  count("sent", (row) => row.messages.sent),
  count("expected", (row) => row.messages.expected),
  count("delivered", (row) => row.messages.delivered),
  count("lost", (row) => row.messages.lost),
  count("duplicated", (row) => row.messages.duplicated),
  count("reordered", (row) => row.messages.reordered),
  count("corrupted", (row) => row.messages.corrupted),
  count("per second", (row) => row.messages.per_second),
  latency("p50", "p50"),
  latency("p90", "p90"),
  latency("p99", "p99"),
  latency("p99.9", "p999"),
  latency("p99.99", "p9999"),
  latency("max", "max"),
  ["overhead", (row) => row.wire.overhead_percent, percentText, 0],
];
const FAULTS = ["dropped", "lost", "duplicated", "reordered", "corrupted"];
const isBad = (title, value) => FAULTS.includes(title) && value > 0;

const stressFigures = () => {
  const place = scroller("Figures");
  const carriers = run.carriers.map((one) => [one.carrier, one]);
  const rows = carriers.length > 1 ? [["all", run], ...carriers] : carriers;
  const show = () => place.replaceChildren(figuresTable("ms", LINE_COLUMNS, rows, { colourOf, isBad }));
  redraws.push(show);
  return card(
    "Figures",
    "Latency is from the moment a line was due to its arrival at each client; overhead is what IP and the protocol add to the payload.",
    place,
    h(
      "dl",
      { class: "told" },
      ...result.notes.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]),
    ),
  );
};

const stressPercentiles = () => {
  const kept = result.curves.filter((curve) => curve.latencies);
  if (kept.length === 0) return null;
  const host = h("div", { class: "plot" });
  const shown = new Set(kept.map(({ name }) => name));
  let end = () => {};
  const show = () => {
    end();
    const all = kept.map((curve) => ({ counts: counts(curve), longest: curve.max }));
    const series = kept.map(({ name }) => ({
      label: name,
      stroke: () => colourOf(name),
      width: 2,
      points: { show: false },
      value: (_plot, value) => (value == null ? "" : digits(value)),
    }));
    end = percentileCurve(host, all, series, shown, null);
  };
  redraws.push(show);
  return card("How late the latest are", "The share of lines that took no longer, by nines, by carrier.", host);
};
