// The values at the cross-hair of a chart: the time, each series, and of stacked ones the sum.

import type uPlot from "uplot";
import type { Series } from "./chart";
import { h } from "./dom";
import { clock } from "./format";

export interface CrosshairValues {
  time: number;
  values: (number | null)[];
  sum: number | null;
}

export class Crosshair {
  readonly element = h("div", { className: "crosshair", hidden: true });
  private isHovered = false;

  constructor(
    private readonly series: Series[],
    private readonly format: (value: number) => string,
  ) {}

  /** Follows the pointer over this plot; plots that are in step with it show their values in their legends. */
  attach(plot: uPlot): void {
    plot.over.append(this.element);
    plot.over.addEventListener("mouseenter", () => (this.isHovered = true));
    plot.over.addEventListener("mouseleave", () => {
      this.isHovered = false;
      this.element.hidden = true;
    });
  }

  show(plot: uPlot, at: CrosshairValues | null): void {
    const { left = -1 } = plot.cursor;
    this.element.hidden = !this.isHovered || at === null || left < 0;
    if (this.element.hidden || at === null) return;
    const text = (value: number | null) => (value === null ? "–" : this.format(value));
    const row = (label: string, swatch: string, value: number | null) =>
      h(
        "div",
        {},
        h("span", { className: swatch === "" ? "swatch" : `swatch ${swatch}` }),
        label,
        h("b", {}, text(value)),
      );
    this.element.replaceChildren(
      h("time", {}, clock(at.time * 1000)),
      ...this.series.map(({ label, colour }, index) => row(label, colour, at.values[index] ?? null)),
      ...(at.sum === null ? [] : [row("together", "", at.sum)]),
    );
    const isRight = left > plot.over.clientWidth / 2;
    this.element.style.left = isRight ? "" : `${left + 10}px`;
    this.element.style.right = isRight ? `${plot.over.clientWidth - left + 10}px` : "";
  }
}
