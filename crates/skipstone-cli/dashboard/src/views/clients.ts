// The clients as a table: sorted and cut by the server, so that ten thousand cost the page no more than a hundred.

import { get } from "../api";
import { h, setText } from "../dom";
import { fixed, orDash, whole } from "../format";
import { LOSS_PERCENT, RTT_MS, mark, queuedBytes, type Limits } from "../thresholds";
import type { ClientRow, ClientsPage, ServerFacts } from "../types";
import type { Model, View } from "./view";

interface Column {
  key: string;
  label: string;
  className: string;
  text: (row: ClientRow) => string;
}

/** A column of figures: its unit is in its head, and it has as many decimals in every row. */
interface Figures {
  unit: string;
  decimals: number;
  of: (row: ClientRow) => number | null;
  limits?: (server: ServerFacts) => Limits | null;
}

type TableColumn = Column & Partial<Figures>;

function figures(key: string, label: string, more: Figures & { className?: string }): Column & Figures {
  const { decimals, of, className = "" } = more;
  const text = (row: ClientRow) => orDash(of(row), (value) => fixed(value, decimals));
  return { ...more, key, label, className: `number ${className}`, text };
}

/** The loss of the worse direction. */
function lossOf({ packet_loss_percent: { sent, received } }: ClientRow): number | null {
  return sent === null ? received : Math.max(sent, received ?? 0);
}

const COLUMNS: TableColumn[] = [
  { key: "name", label: "Name", className: "name", text: (row) => row.name },
  { key: "id", label: "Id", className: "wide", text: (row) => row.id },
  { key: "carrier", label: "Carrier", className: "wide", text: (row) => row.carrier },
  { key: "remote", label: "Address", className: "wide", text: (row) => row.remote },
  figures("rtt", "RTT", { unit: "ms", decimals: 1, of: (row) => row.rtt_ms, limits: () => RTT_MS }),
  figures("loss", "Loss", { unit: "%", decimals: 2, of: lossOf, limits: () => LOSS_PERCENT }),
  figures("queued", "Queued", {
    unit: "kB",
    decimals: 1,
    className: "wide",
    of: (row) => row.queued_bytes / 1000,
    limits: (server) => thousandths(queuedBytes(server)),
  }),
  figures("sent", "Out", { unit: "kB/s", decimals: 1, of: (row) => row.sent_bytes / 1000 }),
  figures("received", "In", { unit: "kB/s", decimals: 1, of: (row) => row.received_bytes / 1000 }),
];
const PAGE = 100;

function thousandths([busy, bad]: Limits): Limits {
  return [busy / 1000, bad / 1000];
}

export class Clients implements View {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly heads = new Map<string, HTMLElement>();
  private readonly count = h("p", { className: "note", attributes: { "aria-live": "polite" } }, "\u00a0");
  private readonly search = h("input", {
    type: "search",
    placeholder: "Find",
    title: "Name, id, address or carrier",
    attributes: { "aria-label": "Find clients" },
    on: {
      input: () => {
        this.offset = 0;
        void this.load();
      },
    },
  });
  private readonly back = button(["Previous"], () => {
    this.turn(-PAGE);
  });
  private readonly next = button(["Next"], () => {
    this.turn(PAGE);
  });
  private sort = "name";
  private descending = false;
  private offset = 0;
  private timer = 0;

  constructor(private readonly model: Model) {
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
      const text = column.text(row);
      setText(link ?? cell, text);
      if (place === 0) cell.title = text;
      const { server } = this.model;
      if (server && column.of && column.limits) mark(cell, column.of(row), column.limits(server));
    });
  }

  private makeHead(column: TableColumn): HTMLElement {
    const head = h(
      "th",
      { className: column.className, scope: "col" },
      button([column.label, column.unit ?? ""], () => {
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

function button([text = "", unit = ""]: string[], onClick: () => void): HTMLButtonElement {
  const small = unit === "" ? [] : [" ", h("small", {}, unit)];
  return h("button", { type: "button", on: { click: onClick } }, text, ...small);
}
