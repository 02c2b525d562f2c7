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
const ms = (value) => (value == null ? "–" : value < 100 ? value.toFixed(1) : Math.round(value).toString());
const whole = (value) => (value == null ? "–" : Math.round(value).toLocaleString("en-US"));
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
