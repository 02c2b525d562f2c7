// The system's theme, and light on paper.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const plots = [];
const redraws = [];
const applyTheme = (isDark) => {
  root.dataset.theme = isDark ? "dark" : "light";
  for (const plot of plots) plot.redraw(false, true);
};
root.dataset.theme = dark.matches ? "dark" : "light";
dark.addEventListener("change", () => applyTheme(dark.matches));
window.addEventListener("beforeprint", () => applyTheme(false));
window.addEventListener("afterprint", () => applyTheme(dark.matches));
