// What was run, how it ended, and the table of figures.
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
