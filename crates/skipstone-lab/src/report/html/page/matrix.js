// Transports by conditions, and the choice of one.
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
        chosen === "bytes_per_payload" ? fixed(value, 2) : digits(value),
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
    h("p", { class: "note" }, "Green: the best of its column. Red: at least four times the best."),
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
