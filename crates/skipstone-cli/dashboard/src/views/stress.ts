// Stress runs: start, watch the verdict as it forms, stop; and the last reports.

import { command, get } from "../api";
import { h, setText } from "../dom";
import { milliseconds, percent, rate, whole } from "../format";
import type { ReportSummary, StressView } from "../types";
import { liveVerdict } from "../verdict";
import type { Model, View } from "./view";

export class Stress implements View {
  readonly element: HTMLElement;
  private readonly badge = h("strong", { className: "badge" }, "…");
  private readonly detail = h("p", {}, "\u00a0");
  private readonly verdict: HTMLElement;
  private readonly bar = h("progress", {
    max: 1,
    value: 0,
    attributes: { "aria-label": "Progress of the run" },
  });
  private readonly figures = h("dl", { className: "figures" });
  private readonly state = h("p", { className: "note", attributes: { role: "status" } });
  private readonly clients = field("stress-clients", "Clients", "100", {
    type: "number",
    min: "1",
    max: "5000",
  });
  private readonly rate = field("stress-rate", "Lines of each", "1/s", {});
  private readonly duration = field("stress-duration", "For", "10s", {});
  private readonly mix = field("stress-mix", "Mix", "", { placeholder: "udp=67,ws=33" });
  private readonly begin = h("button", { type: "submit", className: "primary" }, "Start");
  private readonly stop = h(
    "button",
    {
      type: "button",
      on: {
        click: () => void this.run("api/stress/stop", {}),
      },
    },
    "Stop",
  );
  private readonly rows = h("tbody");
  private readonly report = h("pre", {
    className: "card report",
    hidden: true,
    tabIndex: 0,
    attributes: { "aria-label": "Report in full" },
  });
  private reports = "";

  constructor(private readonly model: Model) {
    this.verdict = h(
      "section",
      { className: "card verdict", attributes: { "aria-label": "Verdict", "aria-live": "polite" } },
      h("div", { className: "headline" }, this.badge, this.detail),
      this.bar,
      this.figures,
    );
    const heads = ["Run", "Verdict", "Clients", "Rate", "Delivered", "Lost", "p50", "p99", "Max", "Overhead"];
    const number = (head: string) => (["Run", "Verdict", "Rate"].includes(head) ? "" : "number");
    this.element = h(
      "main",
      { id: "main", tabIndex: -1 },
      h("div", { className: "bar" }, h("h1", {}, "Stress"), this.state),
      h(
        "div",
        { className: "stress" },
        this.verdict,
        h(
          "form",
          {
            className: "card order",
            attributes: { "aria-label": "A run" },
            on: {
              submit: (event) => {
                event.preventDefault();
                void this.run("api/stress/start", this.order());
              },
            },
          },
          ...[this.clients, this.rate, this.duration, this.mix].map(({ row }) => row),
          h("div", { className: "buttons" }, this.begin, this.stop),
        ),
      ),
      h("h2", {}, "Last reports"),
      h(
        "div",
        {
          className: "card table",
          tabIndex: 0,
          attributes: { role: "region", "aria-label": "Table of reports" },
        },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h("tr", {}, ...heads.map((head) => h("th", { scope: "col", className: number(head) }, head))),
          ),
          this.rows,
        ),
      ),
      this.report,
    );
  }

  open(): void {
    this.onStress();
  }

  close(): void {
    // It goes on when it is opened again.
  }

  onFrame(): void {
    this.onStress();
  }

  onStress(): void {
    const { stress } = this.model;
    if (!stress) return;
    const { tone, title, detail } = liveVerdict(stress);
    this.verdict.dataset["tone"] = tone;
    setText(this.badge, title);
    setText(this.detail, detail);
    const attached = this.model.frames.last?.stress_clients ?? 0;
    const isElsewhere = stress.phase === null && attached > 0;
    setText(this.begin, isElsewhere ? `Start the ${whole(attached)} that wait` : "Start");
    this.begin.disabled = stress.phase !== null;
    this.stop.disabled = stress.phase === null ? attached === 0 : stress.phase === "judging";
    [this.clients, this.duration, this.mix].forEach(({ input }) => (input.disabled = isElsewhere));
    this.showProgress(stress);
    this.showReports(stress.reports);
  }

  private order(): object {
    const attached = this.clients.input.disabled;
    return {
      clients: attached ? 0 : Number(this.clients.input.value),
      rate: this.rate.input.value,
      duration: this.duration.input.value,
      mix: this.mix.input.value,
    };
  }

  private async run(path: string, order: object): Promise<void> {
    try {
      setText(this.state, await command(path, order));
    } catch (error) {
      setText(this.state, error instanceof Error ? error.message : String(error));
    }
  }

  private showProgress({ phase, elapsed_s, duration_s, progress }: StressView): void {
    this.bar.hidden = phase === null;
    this.bar.value =
      phase === "running" ? Math.min(elapsed_s / Math.max(duration_s, 1e-3), 1) : phase === "judging" ? 1 : 0;
    const ms = (value: number | null) => (value === null ? "–" : milliseconds(value));
    const figures: [string, string][] =
      phase === null || !progress
        ? []
        : [
            ["Clients", `${whole(progress.clients_connected)} of ${whole(progress.clients_asked)}`],
            ["Sent", rate(progress.sent_per_second)],
            ["Delivered", rate(progress.delivered_per_second)],
            ["Missing", whole(progress.missing)],
            ["p50", ms(progress.p50_ms)],
            ["p99", ms(progress.p99_ms)],
          ];
    this.figures.replaceChildren(
      ...figures.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    );
  }

  private showReports(reports: ReportSummary[]): void {
    const now = JSON.stringify(reports);
    if (now === this.reports) return;
    this.reports = now;
    const rows = reports.map((report) => this.makeRow(report));
    const empty = h("tr", {}, h("td", { colSpan: 10, className: "empty" }, "No run has ended yet."));
    this.rows.replaceChildren(...(rows.length > 0 ? rows : [empty]));
  }

  private makeRow(report: ReportSummary): HTMLElement {
    const ms = (value: number | null) => (value === null ? "–" : milliseconds(value));
    const open = h(
      "button",
      {
        type: "button",
        className: "link",
        on: {
          click: () => void this.showReport(report.number),
        },
      },
      `#${report.number} ${report.started.slice(11, 19)}`,
    );
    const verdict = h(
      "span",
      { className: `chip ${report.verdict === "pass" ? "good" : "bad"}` },
      report.verdict,
    );
    const cells: [Node | string, string][] = [
      [open, ""],
      [verdict, ""],
      [whole(report.clients), "number"],
      [report.rate, ""],
      [whole(report.delivered), "number"],
      [whole(report.lost), "number"],
      [ms(report.p50_ms), "number"],
      [ms(report.p99_ms), "number"],
      [ms(report.max_ms), "number"],
      [percent(report.overhead_percent), "number"],
    ];
    return h("tr", {}, ...cells.map(([content, className]) => h("td", { className }, content)));
  }

  private async showReport(number: number): Promise<void> {
    try {
      setText(this.report, JSON.stringify(await get(`api/reports/${number}`), null, 2));
      this.report.hidden = false;
      this.report.focus();
    } catch (error) {
      setText(this.state, error instanceof Error ? error.message : String(error));
    }
  }
}

function field(id: string, label: string, value: string, attributes: Record<string, string>) {
  const input = h("input", { id, value, autocomplete: "off", attributes });
  return { input, row: h("div", { className: "entry" }, h("label", { htmlFor: id }, label), input) };
}
