// Stress runs: start, watch the verdict as it forms, stop; and the last reports.

import { command, get } from "../api";
import { h, setText } from "../dom";
import { fixed, milliseconds, orDash, rate, whole } from "../format";
import { Notice } from "../notice";
import type { ReportSummary, RunResult, StressPhase, StressView } from "../types";
import { VERDICTS, liveVerdict, progressOf } from "../verdict";
import { type Head, headRow, liveTable, resultTable } from "./agents";
import type { Model, View } from "./view";

const HEADS: Head[] = [
  ["Run", "", ""],
  ["Verdict", "", ""],
  ["Clients", "", "number wide"],
  ["Rate", "", "wide"],
  ["Delivered", "", "number wide"],
  ["Lost", "", "number"],
  ["p50", "ms", "number wide"],
  ["p99", "ms", "number"],
  ["Max", "ms", "number wide"],
  ["Overhead", "%", "number wide"],
];

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
  private readonly notice = new Notice();
  private readonly elsewhere = h("p", { className: "note" });
  private readonly clients = field("stress-clients", "Clients", "100", {
    type: "number",
    min: "1",
    max: "5000",
  });
  private readonly rate = field("stress-rate", "Lines per client", "1/s", {});
  private readonly duration = field("stress-duration", "Duration", "10s", {});
  private readonly agents = field("stress-agents", "Agents", "0", { type: "number", min: "0", max: "100" });
  private readonly fleet = h("p", { className: "note" });
  private readonly mix = field("stress-mix", "Carriers", "", { placeholder: "udp=67,ws=33" });
  private readonly begin = h("button", { type: "submit", className: "primary" }, "Start");
  private readonly stop = h(
    "button",
    {
      type: "button",
      on: {
        click: () => void this.stopRun(),
      },
    },
    "Stop",
  );
  private readonly rows = h("tbody");
  private readonly live = h("div", { className: "agents" });
  private readonly agentsOfReport = h("div", { className: "agents" });
  private readonly report = h("pre", {
    className: "card report",
    hidden: true,
    tabIndex: 0,
    attributes: { "aria-label": "Report in full" },
  });
  private reports = "";
  private phase: StressPhase | null = null;

  constructor(private readonly model: Model) {
    this.verdict = h(
      "section",
      { className: "card verdict", attributes: { "aria-label": "Verdict", "aria-live": "polite" } },
      h("div", { className: "headline" }, this.badge, this.detail),
      this.bar,
      this.figures,
      this.elsewhere,
    );
    this.element = h(
      "main",
      { id: "main", tabIndex: -1 },
      h("div", { className: "bar" }, h("h1", {}, "Stress"), this.notice.element),
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
                void this.startRun();
              },
            },
          },
          ...[this.clients, this.rate, this.duration, this.mix, this.agents].map(({ row }) => row),
          this.fleet,
          h("div", { className: "buttons" }, this.begin, this.stop),
        ),
      ),
      this.live,
      h("h2", {}, "Last reports"),
      h(
        "div",
        {
          className: "card table",
          tabIndex: 0,
          attributes: { role: "region", "aria-label": "Table of reports" },
        },
        h("table", {}, headRow(HEADS), this.rows),
      ),
      this.agentsOfReport,
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
    if (stress.phase !== this.phase) this.notice.clear();
    this.phase = stress.phase;
    const last = this.model.frames.last;
    const { tone, title, detail } = liveVerdict(stress, last);
    this.verdict.dataset["tone"] = tone;
    setText(this.badge, title);
    setText(this.detail, detail);
    const waiting = last?.stress_waiting ?? 0;
    const told = last?.stress_told ?? 0;
    const isElsewhere = stress.phase === null && waiting > 0;
    setText(this.begin, isElsewhere ? `Start the ${whole(waiting)} that wait` : "Start");
    this.begin.disabled = stress.phase !== null || (told > 0 && waiting === 0);
    this.stop.disabled = stress.phase === null ? told === 0 : stress.phase === "judging";
    this.showOthers(stress.phase);
    [this.clients, this.duration, this.mix, this.agents].forEach(
      ({ input }) => (input.disabled = isElsewhere),
    );
    this.showFleet(this.model.server?.stress_fleet ?? null);
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
      agents: this.agents.row.hidden ? 0 : Number(this.agents.input.value),
    };
  }

  private async startRun(): Promise<void> {
    const isOwn = !this.clients.input.disabled;
    // The verdict shows what an own run does.
    if ((await this.notice.give(command("api/stress/start", this.order()))) && isOwn) this.notice.clear();
  }

  private async stopRun(): Promise<void> {
    await this.notice.give(command("api/stress/stop", {}));
  }

  /** Stress clients that take no word from here. Those of a run that has just ended are about to leave. */
  private showOthers(phase: StressPhase | null): void {
    const others = this.model.frames
      .window(3)
      .map((frame) => frame.stress_clients - frame.stress_waiting - frame.stress_told);
    const count = phase === null ? Math.min(...others) : 0;
    const of = count === 1 ? "1 stress client" : `${whole(count)} stress clients`;
    const text = `${of} of a run elsewhere without --\u2060wait: it cannot be started or stopped here.`;
    setText(this.elsewhere, others.length > 0 && count > 0 ? text : "");
  }

  /** Runs by agents are offered where the operator has named their NATS. */
  private showFleet(fleet: string | null): void {
    this.agents.row.hidden = fleet === null;
    this.fleet.hidden = fleet === null;
    setText(
      this.fleet,
      fleet === null ? "" : `Agents wait at ${fleet}; with 0, all clients are on this machine.`,
    );
  }

  private showProgress(stress: StressView): void {
    const { phase, elapsed_s, duration_s } = stress;
    const progress = progressOf(stress);
    this.bar.hidden = phase === null;
    this.bar.value =
      phase === "running" ? Math.min(elapsed_s / Math.max(duration_s, 1e-3), 1) : phase === "judging" ? 1 : 0;
    const ms = (value: number | null) => orDash(value, milliseconds.text);
    const figures: [string, string][] =
      phase === null || !progress
        ? []
        : [
            ["Clients", `${whole(progress.clients_connected)} of ${whole(progress.clients_asked)}`],
            ["Sent", rate.text(progress.sent_per_second)],
            ["Delivered", rate.text(progress.delivered_per_second)],
            ["Missing", whole(progress.missing)],
            ["p50", ms(progress.p50_ms)],
            ["p99", ms(progress.p99_ms)],
          ];
    if (progress?.nats_away_s !== undefined) {
      figures.push(["NATS away", `${whole(progress.nats_away_s)} s`]);
    }
    const agents = phase === null ? [] : (progress?.agents ?? []);
    this.live.replaceChildren(...(agents.length > 0 ? [liveTable(agents)] : []));
    this.figures.replaceChildren(
      ...figures.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    );
  }

  private showReports(reports: ReportSummary[]): void {
    const now = JSON.stringify(reports);
    if (now === this.reports) return;
    this.reports = now;
    const rows = reports.map((report) => this.makeRow(report));
    const empty = h(
      "tr",
      {},
      h("td", { colSpan: HEADS.length, className: "empty" }, "No run has ended yet."),
    );
    this.rows.replaceChildren(...(rows.length > 0 ? rows : [empty]));
  }

  private makeRow(report: ReportSummary): HTMLElement {
    const figure = (value: number | null, decimals: number) =>
      orDash(value, (value) => fixed(value, decimals));
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
    const [tone, title] = VERDICTS[report.verdict];
    const verdict = h("span", { className: `chip ${tone}` }, title);
    const cells: (Node | string)[] = [
      open,
      verdict,
      whole(report.clients) + (report.agents === null ? "" : ` on ${report.agents} agents`),
      report.rate,
      whole(report.delivered),
      whole(report.lost),
      figure(report.p50_ms, 2),
      figure(report.p99_ms, 2),
      figure(report.max_ms, 2),
      figure(report.overhead_percent, 1),
    ];
    return h(
      "tr",
      {},
      ...cells.map((content, index) => h("td", { className: HEADS[index]?.[2] ?? "" }, content)),
    );
  }

  private async showReport(number: number): Promise<void> {
    try {
      const result = await get<RunResult>(`api/reports/${number}`);
      const agents = result.fleet?.agents ?? [];
      this.agentsOfReport.replaceChildren(...(agents.length > 0 ? [resultTable(agents)] : []));
      setText(this.report, JSON.stringify(result, null, 2));
      this.report.hidden = false;
      this.report.focus();
    } catch (error) {
      this.notice.refuse(error);
    }
  }
}

function field(id: string, label: string, value: string, attributes: Record<string, string>) {
  const input = h("input", { id, value, autocomplete: "off", attributes });
  return { input, row: h("div", { className: "entry" }, h("label", { htmlFor: id }, label), input) };
}
