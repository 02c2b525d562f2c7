// One client: what is known about its connection, its last minutes, and the door.

import { command, get } from "../api";
import { Chart } from "../chart";
import { h, setText } from "../dom";
import { byteRate, bytes, fixed, milliseconds, orDash, rate, whole } from "../format";
import { Notice } from "../notice";
import { LOSS_PERCENT, RTT_MS, mark, queuedBytes, type Limits } from "../thresholds";
import type { ClientDetail } from "../types";
import type { Model, View } from "./view";

const SECONDS = 120;
/** The shortest time that an axis spans. */
const SECONDS_MIN = 20;
const MISSES_MAX = 2;

interface Point {
  time: number;
  detail: ClientDetail;
}

export class ClientView implements View {
  readonly element: HTMLElement;
  private readonly title = h("h1", {}, "Client");
  private readonly subtitle = h("p", { className: "note" }, "\u00a0");
  private readonly facts = h("dl", { className: "facts card" });
  private readonly counters = h("dl", { className: "facts card" });
  private readonly notice = new Notice();
  private readonly reason = h("input", {
    id: "kick-reason",
    maxLength: 200,
    autocomplete: "off",
    placeholder: "The client hears this",
  });
  private readonly kick = h("button", { type: "submit", className: "danger" }, "Kick");
  private readonly rtt = new Chart({
    title: "Round trip",
    about: "smoothed and latest round-trip time of this client",
    series: [
      { label: "smoothed", colour: "c1" },
      { label: "latest", colour: "c3" },
    ],
    quantity: milliseconds,
  });
  private readonly traffic = new Chart({
    title: "Traffic",
    about: "bytes a second to and from this client",
    series: [
      { label: "out", colour: "c1" },
      { label: "in", colour: "c2" },
    ],
    quantity: byteRate,
  });
  private id = "";
  private points: Point[] = [];
  private timer = 0;
  private misses = 0;
  /** Whom this page has ended last. */
  private kicked = "";

  constructor(private readonly model: Model) {
    const form = h(
      "form",
      {
        className: "card kick",
        on: {
          submit: (event) => {
            event.preventDefault();
            void this.doKick();
          },
        },
      },
      h("label", { htmlFor: "kick-reason" }, "End this connection"),
      h("div", { className: "field" }, this.reason, this.kick),
      this.notice.element,
    );
    this.element = h(
      "main",
      { id: "main", tabIndex: -1 },
      h("p", { className: "back" }, h("a", { href: "#/clients" }, "← All clients")),
      h("div", { className: "bar" }, this.title, this.subtitle),
      h("h2", { className: "hidden" }, "Last minutes"),
      h("div", { className: "charts two" }, this.rtt.element, this.traffic.element),
      h(
        "div",
        { className: "columns" },
        h("section", {}, h("h2", {}, "Connection"), this.facts),
        h("section", {}, h("h2", {}, "Counters"), this.counters),
        h("section", {}, h("h2", {}, "Kick"), form),
      ),
    );
  }

  open(id: string): void {
    if (id !== this.id) {
      this.points = [];
      setText(this.title, "Client");
      setText(this.subtitle, "");
    }
    this.id = id;
    this.misses = 0;
    // Until the page shows whom it would end.
    this.kick.disabled = true;
    this.notice.clear();
    void this.load();
    this.timer = window.setInterval(() => void this.load(), 1000);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async load(): Promise<void> {
    const id = this.id;
    let detail: ClientDetail | null;
    try {
      detail = await get<ClientDetail | null>(`api/clients/${encodeURIComponent(id)}`);
    } catch {
      // The page says elsewhere that the server is away.
      return;
    }
    // The answer may come when another client is shown.
    if (id !== this.id) return;
    if (detail) {
      this.kick.disabled = this.kicked === id;
      this.show(detail);
    } else if (this.points.length > 0 || this.misses >= MISSES_MAX) {
      setText(this.subtitle, "is not connected (any more)");
      this.kick.disabled = true;
      this.close();
    } else {
      // A client is known a moment before its figures are.
      this.misses += 1;
    }
  }

  private show(detail: ClientDetail): void {
    const { row } = detail;
    const { sent, received } = row.packet_loss_percent;
    const ms = (value: number | null) => orDash(value, milliseconds.text);
    const loss = (value: number | null) => orDash(value, (value) => `${fixed(value, 2)}%`);
    const queue = this.model.server ? queuedBytes(this.model.server) : null;
    setText(this.title, row.name);
    setText(this.subtitle, `${row.id} over ${row.carrier} from ${row.remote}`);
    facts(this.facts, [
      ["Kind", row.kind === "stress" ? "stress client" : "chat client"],
      ["RTT", ms(row.rtt_ms), row.rtt_ms, RTT_MS],
      ["RTT, minimum", ms(detail.rtt_min_ms)],
      ["RTT, variation", ms(detail.rtt_variation_ms)],
      ["Packet loss, sent", loss(sent), sent, LOSS_PERCENT],
      ["Packet loss, received", loss(received), received, LOSS_PERCENT],
      ["Messages out", rate.text(row.sent_messages)],
      ["Messages in", rate.text(row.received_messages)],
      ["In flight", bytes.text(detail.bytes_in_flight)],
      [
        "Congestion window",
        detail.congestion_window === null ? "none" : bytes.text(detail.congestion_window),
      ],
      ["Datagram", bytes.text(detail.datagram_bytes)],
      [
        "Queued",
        `${whole(detail.queued_messages)} messages, ${bytes.text(row.queued_bytes)}`,
        row.queued_bytes,
        queue,
      ],
      ["Active channels", whole(detail.channels)],
    ]);
    const drops = Object.entries(detail.drops).map(([reason, count]): Fact => [
      `dropped: ${reason.replaceAll("_", " ")}`,
      whole(count),
    ]);
    facts(this.counters, [
      ...detail.counters.map(([name, count]): Fact => [
        name,
        name.startsWith("bytes") ? bytes.text(count) : whole(count),
      ]),
      ...drops,
    ]);
    this.plot(detail);
  }

  private plot(detail: ClientDetail): void {
    const now = Date.now() / 1000;
    this.points = [...this.points.filter(({ time }) => time > now - SECONDS), { time: now, detail }];
    const times = this.points.map(({ time }) => time);
    const of = (value: (detail: ClientDetail) => number | null) =>
      this.points.map((point) => value(point.detail));
    const from = Math.max(now - SECONDS, Math.min(times[0] ?? now, now - SECONDS_MIN));
    const range: [number, number] = [from, now];
    this.rtt.show(times, [of((it) => it.row.rtt_ms), of((it) => it.rtt_latest_ms)], range);
    this.traffic.show(times, [of((it) => it.row.sent_bytes), of((it) => it.row.received_bytes)], range);
  }

  private async doKick(): Promise<void> {
    const { id } = this;
    if (await this.notice.give(command("api/kick", { id, reason: this.reason.value }))) {
      this.kicked = id;
      this.kick.disabled = true;
    }
  }
}

/** A name and its figure as text; a value and its limits, where it has some. */
type Fact = [name: string, text: string, value?: number | null, limits?: Limits | null];

function facts(list: HTMLElement, rows: Fact[]): void {
  while (list.children.length > rows.length) list.lastElementChild?.remove();
  rows.forEach(([name, text, value = null, limits = null], index) => {
    const row = list.children[index] ?? list.appendChild(h("div", {}, h("dt"), h("dd")));
    const [term, figure] = row.children;
    if (term instanceof HTMLElement && figure instanceof HTMLElement) {
      setText(term, name);
      setText(figure, text);
      mark(figure, value, limits);
    }
  });
}
