// The rows' names and looks (a hue for each family, members told apart by lightness and dashes), and which condition is shown.
const nameOf = (row) => (row.mode ? `${row.transport} ${row.mode}` : row.transport);
const conditions = [...new Set(result.results.map((row) => row.condition ?? ""))];
const names = [...new Set(result.results.map(nameOf))];
const HUES = { skipstone: 214, kcp: 32, quinn: 165, renet: 275, enet: 350, tcp: 48 };
const SPARE_HUES = [320, 95, 190, 12];
const families = new Map();
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 2]];
const styles = new Map(
  names.map((name) => {
    const family = name.split(/[-: ]/)[0];
    if (!families.has(family)) {
      const known = HUES[family];
      const spare = [...families.keys()].filter((other) => !(other in HUES)).length;
      families.set(family, { hue: known ?? SPARE_HUES[spare % SPARE_HUES.length], members: 0 });
    }
    const found = families.get(family);
    const at = found.members++;
    return [name, { hue: found.hue, dash: DASHES[at % DASHES.length], step: at }];
  }),
);
const colourOf = (name) => {
  const { hue, step } = styles.get(name);
  const spread = [0, 12, -9, 20, 6, -4][step % 6];
  const light = root.dataset.theme === "dark" ? 66 + spread / 2 : 44 + spread / 1.5;
  return `hsl(${hue + (step % 3) * 7} ${root.dataset.theme === "dark" ? 78 : 72}% ${light}%)`;
};

let condition = conditions[0];
const redraws = [];
