// What was run, how it ended, and the table of figures.
const head = () => {
  const { plan } = result;
  const seconds = Math.round(plan.minutes * 60);
  const link = Object.entries(plan.link).map(([key, value]) => `${key} ${value}`);
  const because = result.validity.because;
  return verdictCard({
    title: plan.name,
    verdict: result.verdict,
    badges: [[`validity: ${result.validity.level}`, VALID[result.validity.level]]],
    notes: [plan.about, `${because[0].toUpperCase()}${because.slice(1)}.`],
    facts: [
      [
        "workload",
        `${plan.entities} entities, ${plan.ticks_per_second} updates a second of ${plan.payload_bytes} bytes each, sent back at once`,
      ],
      ["link", link.join(", ")],
      ["clock", result.over ? `real, over ${result.over}` : "virtual time"],
      ["each run", seconds >= 120 ? `${seconds / 60} minutes` : `${seconds} s`],
      ["seeds", result.seeds.join(", ")],
      ["began", result.started],
      ["machine", machineText(result.machine)],
    ],
    reasons: result.reasons,
    thresholds: result.thresholds,
    command: result.command,
  });
};

const summaryOf = (name) => medianOf(name, condition);

const shareText = (value) => percentText(value * 100);
const COLUMNS = [
  ["p50", (row) => row.p50, (value) => fixed(value, 2), 1],
  ["p99", (row) => row.p99, (value) => fixed(value, 2), 1],
  ["p99.8", (row) => row.p998, (value) => fixed(value, 2), 1],
  ["p99.99", (row) => row.p9999, (value) => fixed(value, 2), 1],
  ["max", (row) => row.max, (value) => fixed(value, 2), 1],
  ["calm 99.8", (row) => row.p998_calm, (value) => fixed(value, 2), 1],
  ["calm max", (row) => row.max_calm, (value) => fixed(value, 2), 1],
  ["bytes", (row) => row.bytes_per_payload, (value) => fixed(value, 3), 1],
  ["lost", (row) => row.lost, whole, 0],
  ["refused", (row) => row.refused || null, whole, 0],
  ["disorder", (row) => row.reordered, whole, 0],
  ["server CPU", (row) => row.server_cpu, percentText, 1],
  [
    "stalled",
    (row) => (row.stalled == null ? null : row.stalled / Math.max(row.delivered, 1)),
    shareText,
    0,
  ],
  ["queue p95", (row) => row.queue_delay_p95, (value) => fixed(value, 2), 1],
  ["link", (row) => row.link_share, shareText, -1],
  ["useful", (row) => row.useful_share, shareText, -1],
  ["goodput", (row) => row.goodput_share, shareText, -1],
  ["beside", (row) => row.beside_share, shareText, -1],
];
const figures = () => {
  const place = scroller("Figures");
  const show = () => {
    const rows = names.map((name) => [name, summaryOf(name)]);
    const isBad = (title, value) => (title === "lost" || title === "disorder") && value > 0;
    place.replaceChildren(figuresTable("ms; bytes per payload byte", COLUMNS, rows, { colourOf, isBad }));
  };
  redraws.push(show);
  const over = result.seeds.length > 1 ? " Medians over the seeds." : "";
  const measured = result.plan.link.latency
    ? "Each end sends its own messages: latency is from the moment of a message to its delivery at the other end; bytes are IP bytes of both directions per payload byte delivered."
    : "Latency is from the tick to the delivery of the echo, of every update; bytes are IP bytes of both directions per payload byte delivered there and back.";
  return card(
    "Figures",
    measured + over,
    place,
  );
};
