// Light, dark, or the system's theme.

export type Theme = "auto" | "light" | "dark";
const KEY = "skipstone-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export function currentTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

export function applyTheme(theme: Theme): void {
  if (theme === "auto") {
    localStorage.removeItem(KEY);
  } else {
    localStorage.setItem(KEY, theme);
  }
  // The style sheet knows two themes, and never which of them was meant by the system's.
  document.documentElement.dataset["theme"] = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
  colours.clear();
  window.dispatchEvent(new Event("themechange"));
}

const colours = new Map<string, string>();

/** A colour of the style sheet, for what is drawn on a canvas. */
export function colour(name: string): string {
  let value = colours.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    colours.set(name, value);
  }
  return value;
}

dark.addEventListener("change", () => {
  applyTheme(currentTheme());
});
