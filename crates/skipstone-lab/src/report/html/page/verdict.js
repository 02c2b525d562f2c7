// How a run ended, what was run, and the line that runs it again.
const TONES = { pass: "good", fail: "bad", invalid: "busy", unavailable: "bad", interrupted: "busy", running: "busy" };
const VALID = { exact: "good", sound: "good", doubtful: "busy", unsound: "bad" };
const measured = ({ actual, unit }) =>
  actual == null ? "not measured" : `${digits(actual)}${unit === "%" ? "%" : unit ? ` ${unit}` : ""}`;
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** `badges` are texts with tones, `facts` names with texts; those without a text are left out. */
const verdictCard = ({ title, verdict, sentence, badges = [], notes = [], facts, reasons, thresholds, command }) => {
  const conditions = thresholds.map((one) =>
    h(
      "li",
      { style: `color: var(--${one.passed ? "good" : "bad"})` },
      `${one.passed ? "kept" : "missed"} ${[one.expression, one.of].filter(Boolean).join(" ")} ${measured(one)}`,
    ),
  );
  return h(
    "section",
    { class: "card" },
    h(
      "div",
      { class: "head" },
      h("h1", {}, title),
      h("span", { class: "badge", "data-tone": TONES[verdict] }, verdict.toUpperCase()),
      ...badges.map(([text, tone]) => h("span", { class: "badge", "data-tone": tone }, text)),
    ),
    ...notes.filter(Boolean).map((note) => h("p", { class: "note" }, note)),
    h(
      "ul",
      { class: "facts" },
      ...facts
        .filter(([, text]) => text)
        .map(([key, text]) => h("li", {}, h("span", { class: "muted" }, `${key} `), h("b", {}, text))),
    ),
    sentence ? h("p", { class: "sentence" }, sentence) : null,
    reasons.length ? h("ul", { class: "reasons" }, ...reasons.map((reason) => h("li", {}, reason))) : null,
    conditions.length ? h("ul", { class: "late" }, ...conditions) : null,
    h(
      "code",
      { class: "again", tabindex: "0", role: "region", "aria-label": "Command" },
      command.map(quoted).join(" "),
    ),
  );
};
const machineText = (machine) => machine && `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}`;
