// Tables of figures: of names and figures, either of which may be the rows.

/** A name behind its colour, on one line. */
const named = (name, colourOf) => [colourOf && h("span", { class: "swatch", style: `background: ${colourOf(name)}` }), name];
/** A figure of a row; `isBad` says of a title and a value whether it is alarming. */
const figureCell = ([title, of, show], row, isBad, best = null) => {
  const value = of(row);
  const text = value == null ? "–" : show(value);
  const look = value != null && isBad(title, value) ? "bad" : value != null && text === best ? "best" : "";
  return h("td", { class: look }, text);
};
const isMeasured =
  (rows) =>
  ([, of]) =>
    rows.some(([, row]) => of(row) != null);
const tableOf = (heads, rows) =>
  h(
    "table",
    { class: "figures" },
    h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, ...head)))),
    h("tbody", {}, ...rows.map(([head, ...cells]) => h("tr", {}, h("th", { scope: "row" }, ...head), ...cells))),
  );

/**
 * A row for each name, a column for each figure that any row has. A column is its title, the figure of a row, its text, and which
 * figures are best: 1 the least, -1 the greatest, 0 none.
 */
const figuresTable = (corner, columns, rows, { colourOf, isBad = () => false } = {}) => {
  const shown = columns.filter(isMeasured(rows));
  const best = shown.map(([, of, show, sign]) => {
    const values = rows.map(([, row]) => of(row)).filter((value) => value != null);
    return sign === 0 || values.length < 2 ? null : show(sign > 0 ? Math.min(...values) : Math.max(...values));
  });
  return tableOf(
    [[corner], ...shown.map(([title]) => [title])],
    rows.map(([name, row]) => [
      named(name, colourOf),
      ...shown.map((column, at) => figureCell(column, row, isBad, best[at])),
    ]),
  );
};
/** A row for each figure that any column has, a column for each name: for few names, which then fit beside each other. */
const figuresByRow = (corner, figures, columns, { colourOf, isBad = () => false } = {}) =>
  tableOf(
    [[corner], ...columns.map(([name]) => named(name, colourOf))],
    figures
      .filter(isMeasured(columns))
      .map((figure) => [[figure[0]], ...columns.map(([, one]) => figureCell(figure, one, isBad))]),
  );
/** A place that scrolls sideways where it is narrow. */
const scroller = (label) => h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label });
