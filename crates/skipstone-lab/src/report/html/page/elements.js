// Elements, and numbers as text.
const result = JSON.parse(document.getElementById("result").textContent);
const root = document.documentElement;
const page = document.getElementById("page");

const h = (tag, options, ...children) => {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(options ?? {})) {
    if (key === "class") element.className = value;
    else if (key === "style") element.style.cssText = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
};
const fixed = (value, digits) => (value == null ? "–" : value.toFixed(digits));
const whole = (value) => (value == null ? "–" : Math.round(value).toLocaleString("en-US"));
/** About three digits, as on the terminal; the bounds are where rounding would add a digit. */
const digits = (value) => {
  if (value == null) return "–";
  return value < 9.995 ? Math.max(value, 0).toFixed(2) : value < 99.95 ? value.toFixed(1) : whole(value);
};
const percentText = (value) => (value == null ? "–" : `${fixed(value, 1)}%`);
const UNITS = [
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
  ["B", 1],
];
const unitOf = (bytes) => UNITS.find(([, unit]) => bytes >= unit) ?? ["B", 1];
const bytesText = (bytes) => {
  const [name, unit] = unitOf(bytes);
  return `${unit === 1 ? Math.round(bytes) : digits(bytes / unit)} ${name}`;
};
const css = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

/** Buttons of which one is pressed. */
const choice = (label, options, onChoose) => {
  const group = h("div", { class: "pick", role: "group", "aria-label": label });
  for (const [value, text] of options) {
    const button = h("button", { type: "button", "aria-pressed": "false" }, text);
    button.addEventListener("click", () => {
      for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
      onChoose(value);
    });
    group.append(button);
  }
  group.children[0]?.setAttribute("aria-pressed", "true");
  return group;
};
const card = (title, note, ...children) =>
  h("section", { class: "card" }, h("h2", {}, title), note ? h("p", { class: "note" }, note) : null, ...children);
