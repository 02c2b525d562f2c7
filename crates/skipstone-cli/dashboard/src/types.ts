// What the server sends. Rates are per second.

export interface BytesSplit {
  payload: number;
  protocol: number;
  redundancy: number;
  headers: number;
}

/** Percent of the packets sent, by direction as the server sees it. Missing on a stream, which loses none. */
export interface PacketLoss {
  sent: number | null;
  received: number | null;
}

export interface Frame {
  /** Milliseconds since 1970. */
  t: number;
  up_s: number;
  clients: number;
  stress_clients: number;
  /** Of these, clients that wait for the command to start, and clients that run until the command to stop. */
  stress_waiting: number;
  stress_told: number;
  carriers: Record<string, number>;
  lines: number;
  messages_sent: number;
  messages_received: number;
  datagrams_sent: number;
  datagrams_received: number;
  sent: BytesSplit;
  received: BytesSplit;
  /** 50, 90, 99 and 100 percent of the clients. */
  rtt_ms: [number, number, number, number] | null;
  lost: number;
  /** The mean over the clients. */
  packet_loss_percent: PacketLoss;
  resent: number;
  repairs: number;
  copies: number;
  recovered: number;
  probes: number;
  ticks: number;
  slowest_tick_ms: number;
  cpu_percent: number | null;
  dashboard_cpu_percent: number | null;
  rss_bytes: number | null;
  queued_bytes: number;
  overflows: number;
  drops: number;
  log_skipped: number;
}

export interface ServerFacts {
  version: string;
  url: string;
  listen: string;
  workload: string;
  ticks_per_second: number;
  websocket: boolean;
  shards: number;
  /** Cores of the machine that the server may use. */
  cores: number;
  /** What may wait for a client before it is disconnected. */
  queue_bytes_max: number;
  /** NATS, at which agents for stress runs wait; null if the operator named none. */
  stress_fleet: string | null;
}

export interface ClientRow {
  id: string;
  name: string;
  kind: string;
  carrier: string;
  remote: string;
  rtt_ms: number | null;
  packet_loss_percent: PacketLoss;
  queued_bytes: number;
  sent_bytes: number;
  received_bytes: number;
  sent_messages: number;
  received_messages: number;
}

export interface ClientsPage {
  total: number;
  offset: number;
  rows: ClientRow[];
}

export interface ClientDetail {
  row: ClientRow;
  rtt_min_ms: number | null;
  rtt_latest_ms: number | null;
  rtt_variation_ms: number | null;
  bytes_in_flight: number;
  congestion_window: number | null;
  datagram_bytes: number;
  queued_messages: number;
  channels: number;
  counters: [string, number][];
  drops: Record<string, number>;
}

export type LineKind = "event" | "chat" | "say";

/** Number, milliseconds since 1970, kind, speaker, text. */
export type LogLine = [number, number, LineKind, string, string];

export type StressPhase = "connecting" | "running" | "judging";

export interface StressProgress {
  phase: string;
  clients_asked: number;
  clients_connected: number;
  clients_dropped: number;
  sent_per_second: number;
  offered_per_second: number;
  delivered_per_second: number;
  delivered: number;
  missing: number;
  p50_ms: number | null;
  p99_ms: number | null;
  max_ms: number | null;
  late_sends: number;
  /** Of a run on several machines. */
  agents?: AgentFigures[];
  nats_away_s?: number;
}

/** As the tool's `AgentPhase`. */
export type AgentState = "connecting" | "ready" | "running" | "draining" | "done" | "failed" | "lost";

export interface AgentFigures {
  name: string;
  state: AgentState;
  clients_asked: number;
  clients_connected: number;
  sent_per_second: number;
  delivered_per_second: number;
  delivered: number;
  late_sends: number;
  cpu_percent: number | null;
  silent_s: number;
  /** Why it is lost or has no evidence. */
  why: string | null;
}

/** A line of `fleet.agents` in a result. */
export interface AgentResult {
  name: string;
  numbers: string;
  lost: string | null;
  clients: { asked: number; connected: number };
  messages: { sent: number; delivered: number; lost: number };
  latency_ms: { p50: number | null; p99: number | null } | null;
  generator: { late_sends: number; cpu_percent: number | null } | null;
  clock_error_ms: number;
}

/** The part of a result that the page shows as a table. */
export interface RunResult {
  fleet?: { agents: AgentResult[] } | null;
}

/** As skipstone-lab's `Verdict`. */
export type RunVerdict = "pass" | "fail" | "invalid" | "unavailable" | "interrupted";

export interface ReportSummary {
  number: number;
  verdict: RunVerdict;
  reasons: string[];
  started: string;
  duration_s: number;
  clients: number;
  mix: string;
  rate: string;
  delivered: number;
  expected: number;
  lost: number;
  p50_ms: number | null;
  p99_ms: number | null;
  max_ms: number | null;
  overhead_percent: number | null;
  /** How many agents it had; null of a run on one machine. */
  agents: number | null;
}

export interface StressView {
  phase: StressPhase | null;
  elapsed_s: number;
  duration_s: number;
  order: { clients: number; rate: string; duration: string; mix: string; agents: number } | null;
  progress: StressProgress | null;
  failure: string | null;
  reports: ReportSummary[];
}

export interface Start {
  server: ServerFacts;
  stress: StressView;
  frames: Frame[];
}
