// A stress run: its verdict, its figures, latency percentiles, and the clients with the highest latencies.
const run = result.result;
const HUES = { udp: 214, dtls: 252, ws: 32, wss: 350, tcp: 48, browser: 140, wt: 275 };
const colourOf = (name) => {
  const isDark = root.dataset.theme === "dark";
  return `hsl(${HUES[name] ?? 190} ${isDark ? 78 : 72}% ${isDark ? 66 : 40}%)`;
};
const counts = (one) => (one.parsed ??= parse(one.latencies, "*"));

const stressHead = () => {
  const { plan } = run;
  const { late_sends: late, planned_sends: planned } = run.generator;
  return verdictCard({
    title: document.title,
    verdict: run.verdict,
    sentence: result.verdict_sentence,
    badges: [late > 0 ? [`${whole(late)} of ${whole(planned)} sends late`, "busy"] : ["every send on time", "good"]],
    facts: [
      ["clients", plan.mix],
      ["server", plan.url ?? "started by this run"],
      ["transport", run.transport],
      ["started", run.started],
    ],
    reasons: run.reasons,
    thresholds: run.thresholds,
    command: [run.command[0].split(/[\\/]/).at(-1), ...run.command.slice(1)],
  });
};

const count = (title, of) => [title, of, whole, 0];
const latency = (share, title) => [`Latency ${title}`, (one) => one.latency_ms?.[share], (value) => `${digits(value)} ms`, 0];
// The rows of the terminal's table.
const LINE_FIGURES = [
  count("Clients connected", (one) => one.clients.connected),
  count("Clients dropped", (one) => one.clients.dropped),
  count("Lines sent", (one) => one.messages.sent),
  count("Deliveries expected", (one) => one.messages.expected),
  count("Delivered", (one) => one.messages.delivered),
  count("Lost", (one) => one.messages.lost),
  count("Duplicated", (one) => one.messages.duplicated),
  count("Reordered", (one) => one.messages.reordered),
  count("Corrupted", (one) => one.messages.corrupted),
  count("Delivered per second", (one) => one.messages.per_second),
  latency("p50", "p50"),
  latency("p90", "p90"),
  latency("p99", "p99"),
  latency("p999", "p99.9"),
  latency("p9999", "p99.99"),
  latency("max", "max"),
  ["Overhead", (one) => one.wire.overhead_percent, percentText, 0],
];
const FAULTS = ["Clients dropped", "Lost", "Duplicated", "Reordered", "Corrupted"];
const isBad = (title, value) => FAULTS.includes(title) && value > 0;

const stressFigures = () => {
  const place = scroller("Figures");
  const carriers = run.carriers.map((one) => [one.carrier, one]);
  const columns = carriers.length > 1 ? [["all", run], ...carriers] : carriers;
  const show = () => place.replaceChildren(figuresByRow("", LINE_FIGURES, columns, { colourOf, isBad }));
  redraws.push(show);
  return card(
    "Figures",
    "Latency is measured from the time when a line was due to its arrival at each client. Overhead is what IP and the protocol add to the payload.",
    place,
    h(
      "dl",
      { class: "told" },
      ...result.notes.flatMap(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]),
    ),
  );
};

const stressPercentiles = () =>
  percentilesCard(
    "Latency percentiles",
    "The latency within which this share of the lines arrived, by carrier.",
    result.curves.filter((curve) => curve.latencies),
    colourOf,
  );
