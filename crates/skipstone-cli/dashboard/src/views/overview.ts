// The overview: figures at a glance, and a chart for each.

import { Chart, type Series } from "../chart";
import { h, setText, svg } from "../dom";
import { byteRate, bytes, count, fixed, milliseconds, orDash, percent, rate, span, whole } from "../format";
import type { Quantity } from "../format";
import { carriers } from "../frames";
import { LOSS_PERCENT, RTT_MS, cpuPercent, mark, tickMs, type Limits } from "../thresholds";
import type { BytesSplit, Frame, ServerFacts } from "../types";
import { sparkline } from "./sparkline";
import type { Model, View } from "./view";

const total = (split: BytesSplit) => split.payload + split.protocol + split.redundancy + split.headers;
const parts: Series[] = [
  { label: "payload", colour: "c1" },
  { label: "protocol", colour: "c2" },
  { label: "redundancy", colour: "c3" },
  { label: "headers", colour: "c4" },
];
const splitOf = (of: (frame: Frame) => BytesSplit) => (frame: Frame) => {
  const split = of(frame);
  return [split.payload, split.protocol, split.redundancy, split.headers];
};

interface Plotted {
  chart: Chart;
  values: (frame: Frame) => (number | null)[];
}

interface Tile {
  value: HTMLElement;
  note: HTMLElement;
  line: SVGElement;
  of: (frame: Frame) => number | null;
  format: (value: number) => string;
  noteOf: (frame: Frame) => string;
  limits: ((server: ServerFacts) => Limits | null) | undefined;
}

const SECONDS_UNCHOSEN_MAX = 300;
const RANGES: [string, number][] = [
  ["1 min", 60],
  ["5 min", 300],
  ["15 min", 900],
  ["1 h", 3600],
];

export class Overview implements View {
  readonly element: HTMLElement;
  private readonly tiles: Tile[] = [];
  private readonly plotted: Plotted[];
  private readonly byCarrier: Chart;
  /** What was chosen; until then as much as there is, up to five minutes. */
  private chosen: number | undefined;
  private readonly ranges: HTMLButtonElement[];

  constructor(private readonly model: Model) {
    this.ranges = RANGES.map(([label, seconds]) => this.makeRange(label, seconds));
    this.plotted = [
      plot("Messages", "messages of the application", ["sent", "received"], rate, (frame) => [
        frame.messages_sent,
        frame.messages_received,
      ]),
      {
        chart: new Chart({
          title: "Sent",
          about: "bytes sent a second by what they are",
          series: parts,
          quantity: byteRate,
          stacked: true,
        }),
        values: splitOf((frame) => frame.sent),
      },
      {
        chart: new Chart({
          title: "Received",
          about: "bytes received a second by what they are",
          series: parts.filter((part) => part.label !== "redundancy"),
          quantity: byteRate,
          stacked: true,
        }),
        values: (frame) => [frame.received.payload, frame.received.protocol, frame.received.headers],
      },
      plot(
        "Round trips",
        "smoothed round-trip times of the clients",
        ["p50", "p90", "p99", "max"],
        milliseconds,
        (frame) => [...(frame.rtt_ms ?? [null, null, null, null])],
      ),
      plot(
        "Loss and repair",
        "packets a second",
        ["lost", "retransmitted", "repairs", "recovered"],
        rate,
        (frame) => [frame.lost, frame.resent, frame.repairs + frame.copies, frame.recovered],
      ),
      plot("Slowest tick", "of each second, from when it was due", ["slowest"], milliseconds, (frame) => [
        frame.slowest_tick_ms,
      ]),
      plot("Ticks", "of the game loop", ["ticks"], rate, (frame) => [frame.ticks]),
      plot("CPU", "percent of one core", ["process", "dashboard"], percent, (frame) => [
        frame.cpu_percent,
        frame.dashboard_cpu_percent,
      ]),
      plot(
        "Memory",
        "resident memory and what is queued for clients",
        ["resident", "queued"],
        bytes,
        (frame) => [frame.rss_bytes, frame.queued_bytes],
      ),
    ];
    this.byCarrier = new Chart({
      title: "Connections",
      about: "connections by carrier",
      series: [],
      quantity: count,
      stacked: true,
    });
    this.element = h(
      "main",
      { id: "main", className: "overview", tabIndex: -1 },
      h("h1", { className: "hidden" }, "Overview"),
      this.makeTiles(),
      h(
        "div",
        { className: "bar" },
        h("h2", {}, "Last"),
        h(
          "div",
          { className: "segments", attributes: { role: "group", "aria-label": "Time shown" } },
          ...this.ranges,
        ),
      ),
      h(
        "div",
        { className: "charts" },
        this.byCarrier.element,
        ...this.plotted.map(({ chart }) => chart.element),
      ),
    );
  }

  open(): void {
    this.onFrame();
  }

  close(): void {
    // Nothing runs while it is hidden.
  }

  onFrame(): void {
    const last = this.model.frames.last;
    if (!last) return;
    const seconds = this.chosen ?? this.fitting(last);
    this.ranges.forEach((button, index) => {
      button.setAttribute("aria-pressed", String(RANGES[index]?.[1] === seconds));
    });
    const frames = this.model.frames.window(seconds);
    const now = last.t / 1000;
    const range: [number, number] = [now - seconds, now];
    const times = frames.map((frame) => frame.t / 1000);
    for (const { chart, values } of this.plotted) {
      const rows = frames.map(values);
      chart.show(times, transpose(rows), range);
    }
    const names = carriers(frames);
    const series = (names.length > 0 ? names : ["none"]).map((label, index) => ({
      label,
      colour: `c${(index % 5) + 1}`,
    }));
    const counts = series.map(({ label }) => frames.map((frame) => frame.carriers[label] ?? 0));
    this.byCarrier.show(times, counts, range, series);
    this.showTiles(last);
  }

  /** The shortest range that has everything of a young server. */
  private fitting(last: Frame): number {
    const first = this.model.frames.window(SECONDS_UNCHOSEN_MAX)[0] ?? last;
    const age = (last.t - first.t) / 1000;
    return RANGES.find(([, seconds]) => seconds >= age)?.[1] ?? SECONDS_UNCHOSEN_MAX;
  }

  private showTiles(last: Frame): void {
    const recent = this.model.frames.window(60);
    const { server } = this.model;
    for (const tile of this.tiles) {
      const value = tile.of(last);
      setText(tile.value, orDash(value, tile.format));
      if (server) mark(tile.value, value, tile.limits?.(server) ?? null);
      setText(tile.note, tile.noteOf(last));
      tile.line.setAttribute("d", sparkline(recent.map((frame) => tile.of(frame) ?? 0)));
    }
  }

  private makeTiles(): HTMLElement {
    const tile = (
      label: string,
      colour: string,
      of: Tile["of"],
      format: Tile["format"],
      noteOf: Tile["noteOf"],
      limits?: Tile["limits"],
    ): HTMLElement => {
      const value = h("dd", { className: "figure" }, "–");
      const note = h("dd", { className: "note" }, "\u00a0");
      const line = svg("path", { d: "", class: `stroke-${colour}` });
      const box = {
        viewBox: "0 0 60 20",
        preserveAspectRatio: "none",
        class: "sparkline",
        "aria-hidden": "true",
      };
      this.tiles.push({ value, note, line, of, format, noteOf, limits });
      return h("div", { className: "card tile" }, h("dt", {}, label), value, note, svg("svg", box, line));
    };
    return h(
      "dl",
      { className: "tiles" },
      tile(
        "Clients",
        "c1",
        (frame) => frame.clients,
        whole,
        (frame) => `${whole(frame.stress_clients)} of stress runs`,
      ),
      tile(
        "Lines",
        "c2",
        (frame) => frame.lines,
        rate.text,
        (frame) => `${rate.text(frame.messages_sent)} sent on`,
      ),
      tile(
        "Out",
        "c1",
        (frame) => total(frame.sent),
        byteRate.text,
        (frame) => `${rate.text(frame.datagrams_sent)} datagrams`,
      ),
      tile(
        "In",
        "c2",
        (frame) => total(frame.received),
        byteRate.text,
        (frame) => `${rate.text(frame.datagrams_received)} datagrams`,
      ),
      tile(
        "RTT p99",
        "c4",
        (frame) => frame.rtt_ms?.[2] ?? null,
        milliseconds.text,
        (frame) => (frame.rtt_ms ? `median ${milliseconds.text(frame.rtt_ms[0])}` : "not measured"),
        () => RTT_MS,
      ),
      tile(
        "Packet loss, sent",
        "c5",
        (frame) => frame.packet_loss_percent.sent,
        (value) => `${fixed(value, 2)}%`,
        (frame) => orDash(frame.packet_loss_percent.received, (value) => `${fixed(value, 2)}% received`),
        () => LOSS_PERCENT,
      ),
      tile(
        "Slowest tick",
        "c3",
        (frame) => frame.slowest_tick_ms,
        milliseconds.text,
        (frame) => `${rate.text(frame.ticks)} ticks`,
        tickMs,
      ),
      tile(
        "CPU",
        "c3",
        (frame) => frame.cpu_percent,
        percent.text,
        (frame) => `of one core, up ${span(frame.up_s)}`,
        cpuPercent,
      ),
    );
  }

  private makeRange(label: string, seconds: number): HTMLButtonElement {
    return h(
      "button",
      {
        type: "button",
        attributes: { "aria-pressed": "false" },
        on: {
          click: () => {
            this.chosen = seconds;
            this.onFrame();
          },
        },
      },
      label,
    );
  }
}

function plot(
  title: string,
  about: string,
  labels: string[],
  quantity: Quantity,
  values: Plotted["values"],
): Plotted {
  const colours = labels.length > 2 ? ["c1", "c2", "c3", "c5"] : ["c1", "c2"];
  const series = labels.map((label, index) => ({ label, colour: colours[index] ?? "c1" }));
  return { chart: new Chart({ title, about, series, quantity }), values };
}

function transpose(rows: (number | null)[][]): (number | null)[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column] ?? null));
}
