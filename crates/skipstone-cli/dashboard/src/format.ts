// Numbers as people read them: three digits and a unit.

const DECIMAL = ["", "k", "M", "G", "T"];

/** A number with three digits at most: 1.23k. */
export function compact(value: number): string {
  return scaled(value, DECIMAL, "");
}

/** Bytes in decimal units: 1.23 MB. */
export function bytes(value: number): string {
  return scaled(value, [" B", " kB", " MB", " GB", " TB"], "");
}

/** Bytes a second. */
export function byteRate(value: number): string {
  return scaled(value, [" B", " kB", " MB", " GB", " TB"], "/s");
}

/** A count or rate a second. */
export function rate(value: number): string {
  return `${compact(value)}/s`;
}

export function milliseconds(value: number): string {
  if (value >= 1000) return `${digits(value / 1000)} s`;
  if (value > 0 && value < 0.1) return `${Math.round(value * 1000)} µs`;
  return `${digits(value)} ms`;
}

export function percent(value: number): string {
  return `${value !== 0 && Math.abs(value) < 0.1 ? value.toFixed(2) : digits(value)}%`;
}

/** Whole numbers with thin spaces between thousands. */
export function whole(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, "\u202f");
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

function scaled(value: number, units: string[], after: string): string {
  let unit = 0;
  let left = Math.abs(value);
  while (left >= 999.5 && unit < units.length - 1) {
    left /= 1000;
    unit += 1;
  }
  return `${value < 0 ? "−" : ""}${digits(left)}${units[unit] ?? ""}${after}`;
}

/** Three digits at most, without zeros at the end. */
function digits(value: number): string {
  const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return String(Number(value.toFixed(decimals)));
}
