// Tables of figures: a row for each name, a column for each figure that any row has.

/**
 * A column is its title, the figure of a row, its text, and which figures are best: 1 the least, -1 the greatest, 0 none.
 * `isBad` says of a title and a value whether it is alarming.
 */
const figuresTable = (corner, columns, rows, { colourOf, isBad = () => false } = {}) => {
  const shown = columns.filter(([, of]) => rows.some(([, row]) => of(row) != null));
  const best = shown.map(([, of, show, sign]) => {
    const values = rows.map(([, row]) => of(row)).filter((value) => value != null);
    return sign === 0 || values.length < 2 ? null : show(sign > 0 ? Math.min(...values) : Math.max(...values));
  });
  const cell = (row) => (column, at) => {
    const [title, of, show] = column;
    const value = of(row);
    const text = value == null ? "–" : show(value);
    const look = value != null && isBad(title, value) ? "bad" : value != null && text === best[at] ? "best" : "";
    return h("td", { class: look }, text);
  };
  const swatch = (name) => colourOf && h("span", { class: "swatch", style: `background: ${colourOf(name)}` });
  return h(
    "table",
    { class: "figures" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, corner),
        ...shown.map(([title]) => h("th", { scope: "col" }, title)),
      ),
    ),
    h(
      "tbody",
      {},
      ...rows.map(([name, row]) => h("tr", {}, h("th", { scope: "row" }, swatch(name), name), ...shown.map(cell(row)))),
    ),
  );
};
/** A place that scrolls sideways where it is narrow. */
const scroller = (label) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label });
