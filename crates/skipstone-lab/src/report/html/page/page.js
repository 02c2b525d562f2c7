// The page, of all its parts.
const page = document.getElementById("page");

page.append(
  ...[head(), matrix(), conditionPick(), figures(), percentiles(), windows(), timeline(), bytes(), cpu()].filter(
    Boolean,
  ),
);
page.append(h("footer", {}, "Written by skipstone. The file holds all its data and asks no network for anything."));
redraws.forEach((redraw) => redraw());
dark.addEventListener("change", () => redraws.forEach((redraw) => redraw()));
