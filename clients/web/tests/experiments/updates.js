// In a page: the updates of 25 entities, 60 times a second, to an echoing server and back. The native client that it is compared
// with is crates/skipstone-cli/examples/pages/main.rs.

const ENTITIES = 25;
const TICKS_PER_SECOND = 60;
const UPDATE_BYTES = 50;

// The loop runs in a worker, as a game's would that is late by no frame of the page.
const ticker = `onmessage = ({ data: [first, spacing, ticks] }) => {
  let tick = 0;
  const step = () => {
    const due = first + tick * spacing;
    // Timers come some time in a millisecond, and one set for less than 4 ms by another comes after 4: the rest is counted down.
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

/** Begins; the promise has the round trips in ms, from the moment that each update was due. */
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
