// In a page: numbered messages as fast as possible, in one direction, and how many bytes of valid ones arrived per
// second.

// Each byte of a message is known: its number, then bytes that count up from it.
const pattern = new Uint8Array(256 + 65_536).map((_, at) => at);

function isGood(payload, number) {
  const low = Number(number & 0xffn);
  for (let at = 8; at < payload.length; at += 1) {
    if (payload[at] !== pattern[low + at]) {
      return false;
    }
  }
  return true;
}

function message(number, bytes) {
  const low = number % 256;
  const payload = pattern.slice(low, low + bytes);
  new DataView(payload.buffer).setBigUint64(0, BigInt(number), true);
  return payload;
}

const UNRELIABLE = 101;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Bytes per second of valid messages between `warm` and `warm + ms` after the connection, and errors. */
window.receive = async (url, options, channel, bytes, warm, ms) => {
  let [good, bad, messages, next, isCounted] = [0, 0, 0, 0n, false];
  const client = skipstone.connect(url, { ...options, token: `pour ${channel} ${bytes}`, reconnect: false });
  const connected = new Promise((resolve, reject) => {
    client.onEvent = (event) => {
      if (event.type === "connected") {
        resolve();
      } else if (event.type === "closed") {
        reject(new Error(event.close.reason));
      } else if (event.type === "message") {
        const view = new DataView(event.payload.buffer, event.payload.byteOffset);
        const number = view.getBigUint64(0, true);
        const isNext = number === next || (channel === UNRELIABLE && number > next);
        if (isNext && isGood(event.payload, number)) {
          good += isCounted ? event.payload.length : 0;
          messages += isCounted ? 1 : 0;
        } else {
          bad += 1;
        }
        next = number + 1n;
      }
    };
  });
  await connected;
  await sleep(warm);
  isCounted = true;
  const [began, before] = [performance.now(), client.statistics()];
  await sleep(ms);
  isCounted = false;
  const [seconds, after] = [(performance.now() - began) / 1_000, client.statistics()];
  client.close();
  return { megabytesPerSecond: good / seconds / 1e6, messages, bad, carrier: after.carrier, after, before };
};

/** The same towards the server, which checks them and reports the result. */
window.transmit = async (url, options, channel, bytes, warm, ms) => {
  let told = [0, 0];
  const client = skipstone.connect(url, { ...options, token: "drain", reconnect: false });
  let number = 0;
  let isOver = false;
  const connected = new Promise((resolve, reject) => {
    client.onEvent = (event) => {
      if (event.type === "connected") {
        resolve();
      } else if (event.type === "closed" && !isOver) {
        reject(new Error(event.close.reason));
      } else if (event.type === "message") {
        told = decode(event.payload).split(" ").map(Number);
      }
    };
  });
  await connected;
  const { port1, port2 } = new MessageChannel();
  let refused = 0;
  port1.onmessage = () => {
    for (let count = 0; count < 256 && !isOver && client.bufferedBytes < 1 << 20; count += 1) {
      try {
        client.send(channel, message(number, bytes));
        number += 1;
      } catch {
        refused += 1;
        break;
      }
    }
    if (!isOver) {
      setTimeout(() => port2.postMessage(null), 0);
    }
  };
  port2.postMessage(null);
  await sleep(warm);
  const [began, [from], before] = [performance.now(), told, client.statistics()];
  await sleep(ms);
  const [seconds, [to, bad], after] = [(performance.now() - began) / 1_000, told, client.statistics()];
  isOver = true;
  client.close();
  const megabytesPerSecond = (to - from) / seconds / 1e6;
  return { megabytesPerSecond, messages: number, bad, refused, carrier: after.carrier, after, before };
};

// The floor: WebTransport's datagrams in a worker, as the library's worker has them, with no protocol in them.
const floorWorker = `
onmessage = async ({ data: { url, hash, direction, bytes, warm, ms } }) => {
  const serverCertificateHashes = [{ algorithm: "sha-256", value: hash }];
  const transport = new WebTransport(url, { serverCertificateHashes, congestionControl: "low-latency" });
  await transport.ready;
  const { datagrams } = transport;
  datagrams.incomingHighWaterMark = 1000;
  datagrams.outgoingHighWaterMark = 200;
  let count = 0;
  const read = async () => {
    const reader = datagrams.readable.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      if (direction === "receive") count += value.byteLength;
      else count = Number(new DataView(value.buffer, value.byteOffset).getBigUint64(0, true));
    }
  };
  let isOver = false;
  const write = async () => {
    const writable = datagrams.writable ?? datagrams.createWritable();
    const writer = writable.getWriter();
    const content = new Uint8Array(bytes);
    while (!isOver) {
      await writer.ready;
      writer.write(content).catch(() => undefined);
    }
  };
  read().catch(() => undefined);
  if (direction === "transmit") write().catch(() => undefined);
  const sleep = (span) => new Promise((resolve) => setTimeout(resolve, span));
  await sleep(warm);
  const [began, from] = [performance.now(), count];
  await sleep(ms);
  const [seconds, to] = [(performance.now() - began) / 1000, count];
  isOver = true;
  transport.close();
  postMessage((to - from) / seconds / 1e6);
};`;

/** Megabytes per second of datagrams without a protocol. */
window.floor = (url, hash, direction, bytes, warm, ms) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(URL.createObjectURL(new Blob([floorWorker], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = (event) => reject(new Error(event.message));
    const value = Uint8Array.from(hash.match(/../g), (pair) => Number.parseInt(pair, 16));
    worker.postMessage({ url, hash: value, direction, bytes, warm, ms });
  });
