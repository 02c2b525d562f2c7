// A chart in a card: a title, a legend with the values at the cursor or the newest ones, and the curves by uPlot.

import uPlot from "uplot";
import { Crosshair, type CrosshairValues } from "./crosshair";
import { h, setText } from "./dom";
import type { Quantity } from "./format";
import { stack } from "./stack";
import { colour } from "./theme";

export interface Series {
  label: string;
  /** Its colour in the style sheet. */
  colour: string;
}

export interface ChartOptions {
  title: string;
  /** A description of the figures for screen readers. */
  about: string;
  series: Series[];
  quantity: Quantity;
  stacked?: boolean;
  /** The axis reaches at least so far. */
  least?: number;
}

const HEIGHT = 168;
/** Of the axes' font, in pixels: no letter of a label is much wider. */
const LETTER_WIDTH = 6.5;
const cursors = uPlot.sync("time");

export class Chart {
  readonly element: HTMLElement;
  private readonly host = h("div", { className: "plot" });
  private readonly values: HTMLElement[] = [];
  private plot: uPlot | undefined;
  private crosshair: Crosshair | undefined;
  private raw: (number | null)[][] = [];
  private times: number[] = [];
  private range: [number, number] = [0, 1];
  private legend: HTMLElement;
  private labels = "";

  constructor(private readonly options: ChartOptions) {
    this.legend = h("ul", { className: "legend" });
    this.host.setAttribute("aria-hidden", "true");
    this.element = h(
      "section",
      { className: "card chart", attributes: { "aria-label": `${options.title}: ${options.about}` } },
      h("header", {}, h("h3", { title: options.about }, options.title), this.legend),
      this.host,
    );
    new ResizeObserver(() => {
      this.resize();
    }).observe(this.host);
    window.addEventListener("themechange", () => {
      this.plot?.redraw(false);
    });
  }

  /** Shows new values, a list for each series; times in seconds. */
  show(
    times: number[],
    values: (number | null)[][],
    range: [number, number],
    series = this.options.series,
  ): void {
    this.times = times;
    this.raw = values;
    this.range = range;
    this.element.dataset["seconds"] = String(Math.round(range[1] - range[0]));
    const labels = series.map((one) => one.label).join();
    if (!this.plot || labels !== this.labels) {
      this.labels = labels;
      this.build(series);
    } else {
      this.plot.setData(this.data(), false);
      this.plot.setScale("x", { min: range[0], max: range[1] });
    }
    this.showValues(this.plot?.cursor.idx ?? null);
  }

  /** Curves from the bottom up, the tallest sum first, so that lower ones are drawn over it. */
  private data(): uPlot.AlignedData {
    if (!this.options.stacked) return [this.times, ...this.raw];
    const sums = stack(this.raw.map((values) => values.map((value) => value ?? 0)));
    return [this.times, ...sums.reverse()];
  }

  private build(series: Series[]): void {
    this.plot?.destroy();
    const { stacked, quantity, least } = this.options;
    this.values.length = 0;
    this.legend.replaceChildren(
      ...series.map((one) => {
        const value = h("span", { className: "value" }, "–");
        this.values.push(value);
        return h("li", {}, h("span", { className: `swatch ${one.colour}` }), one.label, " ", value);
      }),
    );
    const drawn = stacked ? series.toReversed() : series;
    const axis = (more: uPlot.Axis): uPlot.Axis => ({
      stroke: () => colour("muted"),
      grid: { stroke: () => colour("grid"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
      ...more,
    });
    this.plot = new uPlot(
      {
        width: Math.max(this.host.clientWidth, 120),
        height: HEIGHT,
        // Half a label of the time axis may extend to the right of the last value.
        padding: [8, 26, 0, 0],
        legend: { show: false },
        cursor: {
          sync: { key: cursors.key },
          drag: { x: false, y: false },
          y: false,
          points: { size: 6 },
        },
        scales: {
          x: { time: true, range: () => this.range },
          y: { range: (_plot, _min, max) => [0, Math.max(max * 1.08, least ?? 1)] },
        },
        axes: [
          axis({ space: 72, size: 26, values: "{HH}:{mm}:{ss}" }),
          axis({
            // As wide as its longest label.
            size: (_plot, labels: string[] | null) =>
              16 + LETTER_WIDTH * Math.max(4, ...(labels ?? []).map((label) => label.length)),
            space: 34,
            values: (_plot, ticks) => quantity.ticks(ticks),
          }),
        ],
        series: [
          {},
          ...drawn.map((one) => ({
            label: one.label,
            stroke: () => colour(one.colour),
            width: 1.5,
            points: { show: false },
            ...(stacked
              ? { fill: () => colour(`${one.colour}-fill`) }
              : drawn.length === 1
                ? { fill: () => colour(`${one.colour}-fade`) }
                : {}),
          })),
        ],
        hooks: {
          setCursor: [
            (plot) => {
              this.showValues(plot.cursor.idx ?? null);
            },
          ],
        },
      },
      this.data(),
      this.host,
    );
    this.crosshair = new Crosshair(series, quantity.text);
    this.crosshair.attach(this.plot);
  }

  private showValues(index: number | null): void {
    this.values.forEach((element, series) => {
      const values = this.raw[series] ?? [];
      const value = values[index ?? values.length - 1];
      setText(element, value == null ? "–" : this.options.quantity.text(value));
    });
    if (this.plot) this.crosshair?.show(this.plot, index === null ? null : this.valuesAt(index));
  }

  private valuesAt(index: number): CrosshairValues | null {
    const time = this.times[index];
    if (time === undefined) return null;
    const values = this.raw.map((series) => series[index] ?? null);
    const sum = values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
    return { time, values, sum: this.options.stacked && values.length > 1 ? sum : null };
  }

  private resize(): void {
    if (this.host.clientWidth > 0) this.plot?.setSize({ width: this.host.clientWidth, height: HEIGHT });
  }
}
