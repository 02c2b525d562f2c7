// In a page: the updates of 25 entities, 60 times a second, to an echoing server and back. The native client that it is
// compared with is crates/skipstone-cli/examples/pages/main.rs.

const ENTITIES = 25;
const TICKS_PER_SECOND = 60;
const UPDATE_BYTES = 50;

// The loop runs in a worker, as a game's would that is late by no frame of the page.
const ticker = `onmessage = ({ data: [first, spacing, ticks] }) => {
  let tick = 0;
  const step = () => {
    const due = first + tick * spacing;
    // Timers fire at any time within a millisecond, and one of less than 4 ms that was set by another one fires after
    // 4: the rest is spent in a busy wait.
    while (performance.timeOrigin + performance.now() < due);
    postMessage(tick);
    tick += 1;
    if (tick < ticks) {
      const wait = due + spacing - (performance.timeOrigin + performance.now());
      setTimeout(step, Math.max(0, Math.floor(wait - 1)));
    }
  };
  step();
};`;

/** Begins; the promise resolves to the round trips in ms, from the time at which each update was due. */
window.updates = async (url, options, seconds) => {
  const ticks = seconds * TICKS_PER_SECOND;
  const client = skipstone.connect(url, { ...options, token: "echo", reconnect: false });
  const roundTrips = [];
  const next = new Array(ENTITIES).fill(0);
  let [bad, refused, lateTicks, latest, end] = [0, 0, 0, 0, () => undefined];
  const spacing = 1_000 / TICKS_PER_SECOND;
  let first = Infinity;
  const over = new Promise((resolve) => (end = resolve));
  await new Promise((resolve, reject) => {
    client.onEvent = (event) => {
      if (event.type === "connected") {
        resolve();
      } else if (event.type === "closed") {
        reject(new Error(event.close.reason));
        end();
      } else if (event.type === "message") {
        const tick = new DataView(event.payload.buffer, event.payload.byteOffset).getUint32(0, true);
        bad += tick === next[event.channel] ? 0 : 1;
        next[event.channel] = tick + 1;
        roundTrips.push(performance.timeOrigin + performance.now() - (first + tick * spacing));
        if (roundTrips.length === ticks * ENTITIES) {
          end();
        }
      }
    };
  });
  const worker = new Worker(URL.createObjectURL(new Blob([ticker])));
  worker.onmessage = ({ data: tick }) => {
    const late = performance.timeOrigin + performance.now() - (first + tick * spacing);
    latest = Math.max(latest, late);
    lateTicks += late > 4 ? 1 : 0;
    for (let entity = 0; entity < ENTITIES; entity += 1) {
      const update = new Uint8Array(UPDATE_BYTES).fill(entity);
      new DataView(update.buffer).setUint32(0, tick, true);
      try {
        client.send(entity, update);
      } catch {
        refused += 1;
      }
    }
    client.flush();
  };
  first = performance.timeOrigin + performance.now() + 200;
  worker.postMessage([first, spacing, ticks]);
  setTimeout(end, seconds * 1_000 + 2_500);
  await over;
  worker.terminate();
  const statistics = client.statistics();
  const { carrier } = client;
  client.close();
  const lost = ticks * ENTITIES - roundTrips.length;
  return {
    carrier,
    roundTrips: roundTrips.map((ms) => Math.round(ms * 1e6)),
    lost,
    bad,
    refused,
    lateTicks,
    latest,
    visibility: document.visibilityState,
    statistics,
  };
};

// The floor: the same updates as bare datagrams of WebTransport, without a protocol. Lost ones are not retransmitted,
// so only the round trips of those that arrived are reported: the latency of the browser and the path alone.
const bareWorker = `
onmessage = async ({ data: { url, hash, entities, spacing, ticks, updateBytes } }) => {
  const transport = new WebTransport(url, { serverCertificateHashes: [{ algorithm: "sha-256", value: hash }] });
  await transport.ready;
  const { datagrams } = transport;
  datagrams.incomingHighWaterMark = 1000;
  datagrams.outgoingHighWaterMark = 100;
  const now = () => performance.timeOrigin + performance.now();
  const first = now() + 200;
  const roundTrips = [];
  const read = async () => {
    const reader = datagrams.readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const view = new DataView(value.buffer, value.byteOffset);
      const took = now() - (first + view.getUint32(0, true) * spacing);
      for (let update = 0; update < view.getUint32(4, true); update += 1) roundTrips.push(took);
    }
  };
  read().catch(() => undefined);
  const writer = (datagrams.createWritable?.() ?? datagrams.writable).getWriter();
  let tick = 0;
  const half = Math.ceil(entities / 2);
  const step = () => {
    while (now() < first + tick * spacing);
    for (const updates of [half, entities - half]) {
      const datagram = new Uint8Array(updates * updateBytes);
      const view = new DataView(datagram.buffer);
      view.setUint32(0, tick, true);
      view.setUint32(4, updates, true);
      writer.write(datagram).catch(() => undefined);
    }
    tick += 1;
    if (tick < ticks) setTimeout(step, Math.max(0, Math.floor(first + tick * spacing - now() - 1)));
  };
  step();
  setTimeout(() => {
    transport.close();
    postMessage(roundTrips.map((ms) => Math.round(ms * 1e6)));
  }, ticks * spacing + 1000);
};`;

/**
 * The round trips of the updates whose bare datagrams came back, and how many did not. `share` is the number of bytes
 * sent for each byte of an update.
 */
window.bareUpdates = async (url, hash, seconds, share) => {
  const value = Uint8Array.from(hash.match(/../g), (pair) => Number.parseInt(pair, 16));
  const [ticks, updateBytes] = [seconds * TICKS_PER_SECOND, Math.round(UPDATE_BYTES * share)];
  const worker = new Worker(URL.createObjectURL(new Blob([bareWorker], { type: "text/javascript" })));
  const roundTrips = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({
      url,
      hash: value,
      entities: ENTITIES,
      spacing: 1_000 / TICKS_PER_SECOND,
      ticks,
      updateBytes,
    });
  });
  worker.terminate();
  return { roundTrips, lost: ticks * ENTITIES - roundTrips.length, bad: 0 };
};
