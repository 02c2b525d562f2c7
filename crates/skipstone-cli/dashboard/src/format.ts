// Numbers as people read them, by the rules of the tool's own tables: about three digits and a unit, and always as many
// decimals as the size asks for, so that a figure that changes does not jump.

/** What a number counts, in its units from the smallest up. */
export interface Quantity {
  /** A figure outside of tables: 1.23 MB. */
  readonly text: (value: number) => string;
  /** The labels of an axis: one unit and as many decimals for all. */
  readonly ticks: (values: number[]) => string[];
}

type Unit = [size: number, name: string];

/** A number with decimals and commas between thousands. */
export function fixed(value: number, decimals: number): string {
  return value.toLocaleString("en-US", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

/** A whole number, thousands apart. */
export function whole(value: number): string {
  return fixed(value, 0);
}

/** About three digits: 1.23, 12.3, 1,234. The bounds are where rounding would add a digit. */
function threeDigits(value: number): string {
  const size = Math.abs(value);
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

function quantity(units: Unit[], least: (value: number) => string): Quantity {
  const of = (value: number): Unit =>
    units.findLast(([size]) => Math.abs(value) >= size * 0.9995) ?? units[0] ?? [1, ""];
  return {
    text: (value) => {
      const [size, name] = of(value);
      return `${size === 1 ? least(value) : threeDigits(value / size)}${name}`;
    },
    ticks: (values) => {
      const [size, name] = of(Math.max(...values.map(Math.abs)));
      const scaled = values.map((value) => value / size);
      const decimals = [0, 1, 2, 3].find((count) =>
        scaled.every((value) => Math.abs(value - Number(value.toFixed(count))) < 1e-9),
      );
      return scaled.map((value) => (value === 0 ? "0" : `${fixed(value, decimals ?? 3)}${name}`));
    },
  };
}

const scales = (after: string, prefixes: string[]): Unit[] =>
  prefixes.map((prefix, index) => [1000 ** index, `${prefix}${after}`]);
const tenths = (value: number) => fixed(value, Math.abs(value) < 99.95 ? 1 : 0);

/** Things that are counted in whole numbers. */
export const count = quantity(scales("", ["", "k", "M", "G"]), whole);
/** Things a second. */
export const rate = quantity(scales("/s", ["", "k", "M", "G"]), tenths);
/** Bytes, in decimal units. */
export const bytes = quantity(scales("B", [" ", " k", " M", " G", " T"]), whole);
/** Bytes a second. */
export const byteRate = quantity(scales("B/s", [" ", " k", " M", " G", " T"]), whole);
/** Milliseconds, in seconds from ten of them on. */
export const milliseconds: Quantity = {
  text: (value) => (value >= 9999.5 ? `${threeDigits(value / 1000)} s` : `${threeDigits(value)} ms`),
  ticks: quantity(
    [
      [1, " ms"],
      [1000, " s"],
    ],
    threeDigits,
  ).ticks,
};
/** Percent to a tenth. */
export const percent = quantity([[1, "%"]], (value) => fixed(value, 1));

/** A measured figure, or a dash: of nothing there is no share, and before the first sample no time. */
export function orDash(value: number | null, text: (value: number) => string): string {
  return value === null ? "–" : text(value);
}

/** A span of time: 1 d 2 h, 3 min 4 s. */
export function span(seconds: number): string {
  const parts: [number, string][] = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = parts.findIndex(([size]) => seconds >= size);
  if (first < 0) return "0 s";
  let rest = Math.floor(seconds);
  return parts
    .slice(first, first + 2)
    .map(([size, unit]) => {
      const count = Math.floor(rest / size);
      rest -= count * size;
      return `${count} ${unit}`;
    })
    .filter((text, index) => index === 0 || !text.startsWith("0 "))
    .join(" ");
}

/** The time of day: 14:03:09. */
export function clock(unixMs: number): string {
  const date = new Date(unixMs);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}
