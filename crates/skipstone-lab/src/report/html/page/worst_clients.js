// The clients with the highest latencies of a run.
const WORST_COLUMNS = [
  ["lines received", (row) => row.delivered, whole, 0],
  ["p50", (row) => row.p50, digits, 0],
  ["p99", (row) => row.p99, digits, 0],
  ["max", (row) => row.max, digits, 0],
];
const worstTable = (clients) => {
  const rows = clients.map((client) => [client.name, client]);
  const place = scroller("The worst clients");
  place.append(figuresTable("client", WORST_COLUMNS, rows));
  return place;
};

/** A card for one run's list; `groups` are names with a list each, of which only the first is open where there are several. */
const worstClients = (groups) => {
  const kept = groups.filter(([, clients]) => clients.length > 0);
  if (kept.length === 0) return null;
  const several = kept.map(([name, clients], at) =>
    h(
      "details",
      at === 0 ? { open: "" } : {},
      h("summary", {}, `${name}: the worst has a p99 of ${digits(clients[0].p99)} ms`),
      worstTable(clients),
    ),
  );
  return card(
    kept.some(([, clients]) => clients.length === 10) ? "The ten clients with the highest latency" : "Clients by latency, highest first",
    "Sorted by the 99th percentile of the latency of the lines that they received, in ms.",
    ...(kept.length === 1 ? [worstTable(kept[0][1])] : several),
  );
};
