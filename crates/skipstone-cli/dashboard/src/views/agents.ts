// The agents of a stress run on several machines: while it goes on, and in its result.

import { h } from "../dom";
import { fixed, orDash, rate, whole } from "../format";
import type { AgentFigures, AgentResult, AgentState } from "../types";

/** A column: its label, its unit, and its class. */
export type Head = [label: string, unit: string, className: string];

const LIVE_HEADS: Head[] = [
  ["Agent", "", ""],
  ["State", "", ""],
  ["Clients", "", "number"],
  ["Sent", "/s", "number"],
  ["Received", "/s", "number wide"],
  ["Late sends", "", "number wide"],
  ["CPU", "%", "number wide"],
  ["Silent", "s", "number"],
];

const RESULT_HEADS: Head[] = [
  ["Agent", "", ""],
  ["Clients", "", "number"],
  ["Sent", "", "number wide"],
  ["Received", "", "number wide"],
  ["Lost", "", "number"],
  ["p50", "ms", "number wide"],
  ["p99", "ms", "number"],
  ["Late sends", "", "number wide"],
  ["CPU", "%", "number wide"],
  ["Clock", "±ms", "number wide"],
];

/** An agent publishes its state each half second. */
const SILENT_S = 1.5;

const TONES: Record<AgentState, "good" | "busy" | "bad"> = {
  connecting: "busy",
  ready: "good",
  running: "good",
  draining: "good",
  done: "good",
  failed: "bad",
  lost: "bad",
};

export function headRow(heads: Head[]): HTMLElement {
  const head = ([label, unit, className]: Head) =>
    h("th", { scope: "col", className }, label, ...(unit === "" ? [] : [" ", h("small", {}, unit)]));
  return h("thead", {}, h("tr", {}, ...heads.map(head)));
}

/** A row for each agent of the run under way. */
export function liveTable(agents: AgentFigures[]): HTMLElement {
  const row = (agent: AgentFigures) => {
    const silent = h("span", {}, fixed(agent.silent_s, 1));
    if (agent.silent_s > SILENT_S) silent.dataset["level"] = "bad";
    const clients = `${whole(agent.clients_connected)}/${whole(agent.clients_asked)}`;
    const cells = [
      agent.name,
      h("span", { className: `chip ${TONES[agent.state]}`, title: agent.why ?? "" }, agent.state),
      clients,
      perSecond(agent.sent_per_second),
      perSecond(agent.delivered_per_second),
      whole(agent.late_sends),
      orDash(agent.cpu_percent, (value) => fixed(value, 1)),
      silent,
    ];
    return cellRow(LIVE_HEADS, cells);
  };
  return table("Agents of the run", LIVE_HEADS, agents.map(row));
}

/** A row for each agent of a run that has ended. */
export function resultTable(agents: AgentResult[]): HTMLElement {
  const figure = (value: number | null | undefined, decimals: number) =>
    orDash(value ?? null, (value) => fixed(value, decimals));
  const row = (agent: AgentResult) => {
    if (agent.lost !== null) {
      const lost = h("span", { className: "chip bad" }, "lost");
      const why = h("td", { colSpan: RESULT_HEADS.length - 1 }, lost, ` ${agent.lost}`);
      return h("tr", {}, h("td", {}, agent.name), why);
    }
    const { messages, latency_ms, generator } = agent;
    const cells = [
      h("span", { title: agent.numbers }, agent.name),
      `${whole(agent.clients.connected)}/${whole(agent.clients.asked)}`,
      whole(messages.sent),
      whole(messages.delivered),
      whole(messages.lost),
      figure(latency_ms?.p50, 2),
      figure(latency_ms?.p99, 2),
      orDash(generator?.late_sends ?? null, whole),
      figure(generator?.cpu_percent, 1),
      figure(agent.clock_error_ms, 2),
    ];
    return cellRow(RESULT_HEADS, cells);
  };
  return table("Agents in this result", RESULT_HEADS, agents.map(row));
}

function perSecond(value: number): string {
  return rate.text(value).replace(/\/s$/, "");
}

function cellRow(heads: Head[], cells: (Node | string)[]): HTMLElement {
  return h(
    "tr",
    {},
    ...cells.map((content, index) => h("td", { className: heads[index]?.[2] ?? "" }, content)),
  );
}

function table(label: string, heads: Head[], rows: HTMLElement[]): HTMLElement {
  return h(
    "div",
    { className: "card table", tabIndex: 0, attributes: { role: "region", "aria-label": label } },
    h("table", {}, headRow(heads), h("tbody", {}, ...rows)),
  );
}
