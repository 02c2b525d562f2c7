// The rows' names and looks (a hue for each family and each of Skipstone's modes; members told apart by lightness and dashes), and which condition is shown.
const nameOf = (row) => (row.mode ? `${row.transport} ${row.mode}` : row.transport);
const conditions = [...new Set(result.results.map((row) => row.condition ?? ""))];
const names = [...new Set(result.results.map(nameOf))];
const HUES = { kcp: 32, quinn: 165, renet: 275, enet: 350, tcp: 48 };
const SPARE_HUES = [320, 95, 190, 12];
// Skipstone's modes are compared with each other most of all: hues of their own, far apart.
const MODES = {
  adaptive: { hue: 214, dash: [] },
  lean: { hue: 140, dash: [7, 4] },
  off: { hue: 214, dash: [2, 3], saturation: 16 },
  fixed: { hue: 252, dash: [10, 3, 2, 3] },
  repeat: { hue: 190, dash: [4, 2] },
};
const families = new Map();
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 2]];
const styleOf = (name) => {
  const [transport, mode] = name.split(" ");
  const family = transport.startsWith("skipstone") ? name.split(":")[0] : name.split(/[-: ]/)[0];
  const known = MODES[mode?.split(":")[0]];
  // Members of a family are told apart by lightness; skipstone-plain and similar ones are members of their mode's
  // family.
  const group = known ? `${mode.split(":")[0]} of skipstone` : family;
  if (!families.has(group)) {
    const spare = [...families.values()].filter((other) => other.isSpare).length;
    const isSpare = !known && !(family in HUES);
    const hue = known?.hue ?? HUES[family] ?? SPARE_HUES[spare % SPARE_HUES.length];
    families.set(group, { hue, isSpare, members: 0 });
  }
  const found = families.get(group);
  const step = found.members++;
  const dash = known && step === 0 ? known.dash : DASHES[(step + (known ? 1 : 0)) % DASHES.length];
  return { hue: found.hue, saturation: known?.saturation, dash, step };
};
const styles = new Map(names.map((name) => [name, styleOf(name)]));
const colourOf = (name) => {
  const { hue, step, saturation } = styles.get(name);
  const isDark = root.dataset.theme === "dark";
  const spread = [0, 12, -9, 20, 6, -4][step % 6];
  const light = isDark ? 66 + spread / 2 : 40 + spread / 1.5;
  return `hsl(${hue + (step % 3) * 7} ${saturation ?? (isDark ? 78 : 72)}% ${light}%)`;
};

let condition = conditions[0];
const rowsOf = (name, condition) =>
  result.results.filter((row) => nameOf(row) === name && (row.condition ?? "") === condition);
const medianOf = (name, condition) =>
  result.summary.find((one) => nameOf(one) === name && (one.condition ?? "") === condition)?.median ?? {};

// More curves than these cannot be told apart: at first each transport has its best one, and the legend has the others.
const CURVES_MAX = 7;
const firstCurves = () => {
  if (names.length <= CURVES_MAX) return names;
  const best = new Map();
  const latest = (name) => medianOf(name, conditions[0]).p998 ?? Infinity;
  for (const name of names) {
    const family = name.split(/[-: ]/)[0];
    if (!best.has(family) || latest(name) < latest(best.get(family))) best.set(family, name);
  }
  return [...best.values()];
};
const shownCurves = new Set(firstCurves());
const curvesNote =
  shownCurves.size < names.length
    ? "At first the best of each transport by p99.8; choose names to show or hide their curves."
    : "Choose a name to hide its curve.";
const floorOf = (condition) => result.conditions?.find((one) => one.name === condition)?.floor ?? result.plan.floor;
const lines = () =>
  names.map((name) => ({
    label: name,
    stroke: () => colourOf(name),
    dash: styles.get(name).dash,
    width: name.endsWith("adaptive") ? 2.4 : 1.6,
    points: { show: false },
    value: (_plot, value) => (value == null ? "" : digits(value)),
  }));
