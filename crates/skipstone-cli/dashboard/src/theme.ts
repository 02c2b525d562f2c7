// Light, dark, or as the system has it.

export type Theme = "auto" | "light" | "dark";
const KEY = "skipstone-theme";

export function currentTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

export function applyTheme(theme: Theme): void {
  if (theme === "auto") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset["theme"];
  } else {
    localStorage.setItem(KEY, theme);
    document.documentElement.dataset["theme"] = theme;
  }
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

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  colours.clear();
  window.dispatchEvent(new Event("themechange"));
});
