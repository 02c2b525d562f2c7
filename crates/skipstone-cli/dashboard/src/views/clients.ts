// The clients as a table: sorted and cut by the server, so that ten thousand cost the page no more than a hundred.

import { get } from "../api";
import { h, setText } from "../dom";
import { byteRate, bytes, milliseconds, percent, whole } from "../format";
import type { ClientRow, ClientsPage } from "../types";
import type { View } from "./view";

interface Column {
  key: string;
  label: string;
  className: string;
  text: (row: ClientRow) => string;
}

const COLUMNS: Column[] = [
  { key: "name", label: "Name", className: "name", text: (row) => row.name },
  { key: "id", label: "Id", className: "wide", text: (row) => row.id },
  { key: "carrier", label: "Carrier", className: "", text: (row) => row.carrier },
  { key: "remote", label: "Address", className: "wide", text: (row) => row.remote },
  { key: "rtt", label: "RTT", className: "number", text: (row) => milliseconds(row.rtt_ms) },
  {
    key: "loss",
    label: "Loss",
    className: "number",
    text: (row) => percent(Math.max(row.loss_sent, row.loss_received)),
  },
  { key: "queued", label: "Queued", className: "number wide", text: (row) => bytes(row.queued_bytes) },
  { key: "sent", label: "Out", className: "number", text: (row) => byteRate(row.sent_bytes) },
  { key: "received", label: "In", className: "number", text: (row) => byteRate(row.received_bytes) },
];
const PAGE = 100;

export class Clients implements View {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly heads = new Map<string, HTMLElement>();
  private readonly count = h("p", { className: "note", attributes: { "aria-live": "polite" } }, "\u00a0");
  private readonly search = h("input", {
    type: "search",
    placeholder: "Name, id, address or carrier",
    attributes: { "aria-label": "Find clients" },
    on: {
      input: () => {
        this.offset = 0;
        void this.load();
      },
    },
  });
  private readonly back = button("Previous", () => {
    this.turn(-PAGE);
  });
  private readonly next = button("Next", () => {
    this.turn(PAGE);
  });
  private sort = "name";
  private descending = false;
  private offset = 0;
  private timer = 0;

  constructor() {
    const head = h("tr", {}, ...COLUMNS.map((column) => this.makeHead(column)));
    this.element = h(
      "main",
      { id: "main", tabIndex: -1 },
      h(
        "div",
        { className: "bar" },
        h("h1", {}, "Clients"),
        this.count,
        h("span", { className: "spring" }),
        this.search,
      ),
      h(
        "div",
        {
          className: "card table",
          tabIndex: 0,
          attributes: { role: "region", "aria-label": "Table of clients" },
        },
        h("table", {}, h("thead", {}, head), this.body),
      ),
      h("div", { className: "bar pages" }, this.back, this.next),
    );
    this.markSort();
  }

  open(): void {
    void this.load();
    this.timer = window.setInterval(() => void this.load(), 1000);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async load(): Promise<void> {
    const query = new URLSearchParams({
      sort: this.sort,
      descending: String(this.descending),
      offset: String(this.offset),
      limit: String(PAGE),
      find: this.search.value,
    });
    const asked = query.toString();
    try {
      const page = await get<ClientsPage>(`api/clients?${asked}`);
      this.show(page);
    } catch {
      // The page says elsewhere that the server is away.
    }
  }

  private show(page: ClientsPage): void {
    const last = Math.min(page.offset + page.rows.length, page.total);
    const shown = page.total > PAGE ? `, ${whole(page.offset + 1)} to ${whole(last)} shown` : "";
    setText(this.count, `${whole(page.total)} ${page.total === 1 ? "client" : "clients"}${shown}`);
    this.back.hidden = page.total <= PAGE;
    this.next.hidden = page.total <= PAGE;
    this.back.disabled = page.offset === 0;
    this.next.disabled = last >= page.total;
    page.rows.forEach((row, index) => {
      this.showRow(row, index);
    });
    while (this.body.rows.length > page.rows.length) this.body.deleteRow(-1);
    if (page.rows.length === 0) {
      const text = this.search.value === "" ? "Nobody is connected." : "No client matches.";
      this.body.append(h("tr", {}, h("td", { colSpan: COLUMNS.length, className: "empty" }, text)));
    }
  }

  /** Rows are used again: the focus and a selection stay where they are. */
  private showRow(row: ClientRow, index: number): void {
    let line = this.body.rows[index];
    if (line?.cells.length !== COLUMNS.length) {
      line?.remove();
      line = h("tr", {}, ...COLUMNS.map(({ className }) => h("td", { className })));
      line.cells[0]?.append(h("a"));
      this.body.insertBefore(line, this.body.rows[index] ?? null);
    }
    COLUMNS.forEach((column, place) => {
      const cell = line.cells[place];
      if (!cell) return;
      const link = place === 0 ? cell.querySelector("a") : null;
      if (link) link.href = `#/clients/${row.id}`;
      setText(link ?? cell, column.text(row));
    });
  }

  private makeHead(column: Column): HTMLElement {
    const head = h(
      "th",
      { className: column.className, scope: "col" },
      button(column.label, () => {
        this.descending = this.sort === column.key ? !this.descending : column.className.includes("number");
        this.sort = column.key;
        this.offset = 0;
        this.markSort();
        void this.load();
      }),
    );
    this.heads.set(column.key, head);
    return head;
  }

  private markSort(): void {
    for (const [key, head] of this.heads) {
      if (key === this.sort) head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  }

  private turn(by: number): void {
    this.offset = Math.max(0, this.offset + by);
    void this.load();
  }
}

function button(text: string, onClick: () => void): HTMLButtonElement {
  return h("button", { type: "button", on: { click: onClick } }, text);
}
