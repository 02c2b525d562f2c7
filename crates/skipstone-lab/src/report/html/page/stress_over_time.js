// A stress run over time: percentiles and deliveries of each block, CPU and bytes of each second. And the page.
const latenciesOverTime = () => {
  const { blocks, block_s } = result;
  if (blocks.length === 0) return null;
  const at = (share) => blocks.map((block) => quantiles(counts(block), [share], block.max)[0]);
  return timed(
    "Latency over time",
    `Median, 99th percentile and maximum of the lines due in each ${block_s === 1 ? "second" : `${block_s} s`}.`,
    [
      ["p50", "b4", digits],
      ["p99", "b1", digits],
      ["max", "b5", digits],
    ],
    [blocks.map((_, number) => number * block_s), at(0.5), at(0.99), blocks.map((block) => block.max)],
    { scale: milliScale(null), axis: milliAxis() },
  );
};

const deliveriesOverTime = () => {
  const { blocks, block_s } = result;
  if (blocks.length === 0) return null;
  return timed(
    "Lines delivered",
    "Per second, by the time at which they were due.",
    [["lines per second", "b1", whole]],
    [blocks.map((_, number) => number * block_s), blocks.map((block) => block.delivered / block_s)],
    { scale: fromZero, axis: countAxis() },
  );
};

const cpuOverTime = () => {
  const { costs } = result;
  if (!costs.some((point) => point.server_cpu != null || point.generator_cpu != null)) return null;
  return timed(
    "CPU",
    "Percent of one core: the clients' process, and the server's if this run started it.",
    [
      ["server", "b1", percentText],
      ["clients", "b5", percentText],
    ],
    [costs.map((point) => point.at), costs.map((point) => point.server_cpu), costs.map((point) => point.generator_cpu)],
    { scale: fromZero, axis: percentAxis() },
  );
};

const bytesOverTime = () => {
  const { costs } = result;
  if (costs.length === 0) return null;
  const { bytes_sent, bytes_received, bytes_payload, overhead_percent } = run.wire;
  return timed(
    "Bytes",
    `Per second, of all clients, IP headers included. In total ${bytesText(bytes_sent + bytes_received)}, of which ${bytesText(bytes_payload)} are payload: an overhead of ${percentText(overhead_percent)}.`,
    [
      ["received", "b1", bytesText],
      ["sent", "b5", bytesText],
    ],
    [costs.map((point) => point.at), costs.map((point) => point.received_bytes), costs.map((point) => point.sent_bytes)],
    { scale: fromZero, axis: bytesAxis() },
  );
};

page.append(
  ...[
    stressHead(),
    stressFigures(),
    stressPercentiles(),
    latenciesOverTime(),
    deliveriesOverTime(),
    cpuOverTime(),
    bytesOverTime(),
    worstClients([["all", result.worst_clients]]),
  ].filter(Boolean),
);
