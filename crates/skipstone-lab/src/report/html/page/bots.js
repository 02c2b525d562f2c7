// A run of bots: its verdict, its figures, percentiles of what the script measured, and the run over time.
const run = result.result;
const HUES = [214, 32, 165, 275, 350, 48, 95, 320, 130, 190];
const names = result.curves.map(({ name }) => name);
const colourOf = (name) => {
  const isDark = root.dataset.theme === "dark";
  const hue = HUES[Math.max(names.indexOf(name), 0) % HUES.length];
  return `hsl(${hue} ${isDark ? 78 : 72}% ${isDark ? 66 : 40}%)`;
};

const botsHead = () => {
  const { late_sends: late, planned_sends: planned } = run.generator;
  return verdictCard({
    title: document.title,
    verdict: result.is_running ? "running" : run.verdict,
    badges: [late > 0 ? [`${whole(late)} of ${whole(planned)} ticks and timers late`, "busy"] : ["every tick on time", "good"]],
    facts: [
      ["bots", whole(run.bots.asked)],
      ["script", run.script],
      ["server", run.url],
      ["ran for", `${fixed(run.duration_s, 1)} s`],
      ["seed", String(run.seed)],
      ["started", run.started],
      ["machine", machineText(run.machine)],
    ],
    reasons: run.reasons,
    thresholds: run.thresholds,
    command: [run.command[0].split(/[\\/]/).at(-1), ...run.command.slice(1)],
  });
};

const milli = (value) => `${digits(value)} ms`;
const BOT_FIGURES = [
  ["Bots connected", (one) => one.bots.connected, whole, 0],
  ["Bots that lost their connection", (one) => one.bots.dropped, whole, 0],
  ["Bots that ended by an error", (one) => one.bots.faulted, whole, 0],
  ["Connections", (one) => one.bots.connects, whole, 0],
  ["Connecting p50", (one) => one.connect_ms?.p50, milli, 0],
  ["Connecting p99", (one) => one.connect_ms?.p99, milli, 0],
  ["Round trip p50", (one) => one.rtt_ms?.p50, milli, 0],
  ["Round trip p99", (one) => one.rtt_ms?.p99, milli, 0],
  ["Messages sent", (one) => one.messages.sent, whole, 0],
  ["Messages received", (one) => one.messages.received, whole, 0],
  ["Packets sent", (one) => one.wire.sent, whole, 0],
  ["Packets received", (one) => one.wire.received, whole, 0],
  ["Packets sent again", (one) => one.wire.retransmitted, whole, 0],
  ["Packets invalid", (one) => one.wire.invalid, whole, 0],
  ["Bytes sent", (one) => one.wire.bytes_sent, bytesText, 0],
  ["Bytes received", (one) => one.wire.bytes_received, bytesText, 0],
  ["The server's CPU", (one) => one.server?.cpu_percent, percentText, 0],
  ["The bots' CPU", (one) => one.generator.cpu_percent, percentText, 0],
  ["of it scripts", (one) => one.scripts.core_percent, percentText, 0],
  ["Memory of scripts", (one) => one.scripts.memory_bytes, bytesText, 0],
];
const isBad = (title, value) => (title.startsWith("Bots that") || title === "Packets invalid") && value > 0;

const botsFigures = () => {
  const place = scroller("Figures");
  place.append(figuresByRow("", BOT_FIGURES, [["all bots", run]], { isBad }));
  const endings = Object.entries(run.endings).map(([why, count]) => h("li", {}, `${whole(count)} × ${why}`));
  return card(
    "Figures",
    "Traffic is that of the sockets, without headers of IP, UDP and TCP.",
    place,
    endings.length ? h("ul", { class: "reasons" }, ...endings) : null,
  );
};

const shareText = (value) => percentText(value * 100);
const METRIC_FIGURES = [
  ["p50", (one) => one.p50, digits, 0],
  ["p90", (one) => one.p90, digits, 0],
  ["p99", (one) => one.p99, digits, 0],
  ["p99.9", (one) => one.p999, digits, 0],
  ["max", (one) => one.max, digits, 0],
  ["mean", (one) => one.mean, digits, 0],
  ["share", (one) => one.share, shareText, 0],
  ["sum", (one) => one.sum, digits, 0],
  ["last", (one) => one.last, digits, 0],
  ["of", (one) => one.count ?? (one.yes == null ? null : one.yes + one.no) ?? (one.passed == null ? null : one.passed + one.failed), whole, 0],
];
const botsMetrics = () => {
  const rows = Object.entries(run.metrics);
  if (rows.length === 0) return null;
  const place = scroller("What the script measured");
  place.append(figuresTable("metric", METRIC_FIGURES, rows));
  return card("What the script measured", "The end of a name is its unit.", place);
};

const botsPercentiles = () => {
  const isTime = ({ name }) => name.endsWith("_ms");
  const others = result.curves.filter((curve) => !isTime(curve));
  return [
    percentilesCard(
      "Percentiles",
      "Of the script's trends in milliseconds: the value within which this share lies.",
      result.curves.filter(isTime),
      colourOf,
    ),
    ...others.map((curve) =>
      percentilesCard(`Percentiles of ${curve.name}`, "The value within which this share lies.", [curve], colourOf, plainLogAxis),
    ),
  ];
};

const WORST_FIGURES = [
  ["lost connections", (one) => one.drops || null, whole, 0],
  ["worst in", (one) => one.trend?.name, String, 0],
  ["p50", (one) => one.trend?.p50, digits, 0],
  ["p99", (one) => one.trend?.p99, digits, 0],
  ["max", (one) => one.trend?.max, digits, 0],
  ["of", (one) => one.trend?.count, whole, 0],
  ["ended by", (one) => one.fault, String, 0],
];
const worstBots = () => {
  if (run.worst_bots.length === 0) return null;
  const place = scroller("The worst bots");
  place.append(
    figuresTable("bot", WORST_FIGURES, run.worst_bots.map((one) => [String(one.bot), one]), {
      isBad: (title) => title === "lost connections" || title === "ended by",
    }),
  );
  return card(
    "The worst bots",
    `Those that ended by an error, lost their connection, or have a p99 that is the most times the median of all. --seed ${run.seed} --only-bot N runs one alone.`,
    place,
  );
};

const botsOverTime = () => {
  const { seconds } = result;
  if (seconds.length === 0) return [];
  const column = (name) => seconds.map((second) => second[name]);
  const scale = { scale: fromZero, axis: countAxis() };
  return [
    timed("Bots connected", "At the end of each second.", [["bots", "b1", whole]], [column("at"), column("connected")], scale),
    timed(
      "Messages",
      "Per second, of all bots.",
      [
        ["sent", "b5", whole],
        ["received", "b1", whole],
      ],
      [column("at"), column("sent"), column("received")],
      scale,
    ),
  ];
};

page.append(
  ...[botsHead(), botsFigures(), botsMetrics(), ...botsPercentiles(), ...botsOverTime(), worstBots()].filter(Boolean),
);
