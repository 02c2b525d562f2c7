// The page's end, and its drawing.
page.append(h("footer", {}, "Written by skipstone. The file holds all its data and asks no network for anything."));
redraws.forEach((redraw) => redraw());
dark.addEventListener("change", () => redraws.forEach((redraw) => redraw()));
