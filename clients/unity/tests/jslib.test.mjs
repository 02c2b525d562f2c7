// Skipstone.jslib, run as Emscripten runs it, with a fake browser client: the calls of a game, and their results.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import vm from "node:vm";

const source = readFileSync(new URL("../com.skipstone.transport/Runtime/Plugins/WebGL/Skipstone.jslib", import.meta.url), "utf8");

/** The library's functions over a heap, and the client that they call. */
function load(library) {
  const heap = new ArrayBuffer(65536);
  const merged = {};
  const context = vm.createContext({
    mergeInto: (target, functions) => Object.assign(target, functions),
    LibraryManager: { library: merged },
    Module: { Skipstone: library },
    HEAPU8: new Uint8Array(heap),
    HEAP32: new Int32Array(heap),
    TextDecoder, TextEncoder, Uint8Array, console: { error() {} },
  });
  vm.runInContext(source, context);
  context.SkipstoneWeb = merged.$SkipstoneWeb;
  return { call: merged, bytes: context.HEAPU8, numbers: context.HEAP32 };
}

function put(heap, at, text) {
  const bytes = new TextEncoder().encode(text);
  heap.bytes.set(bytes, at);
  return bytes.length;
}

const text = (heap, at, length) => new TextDecoder().decode(heap.bytes.slice(at, at + length));

/** A browser client that records its calls. */
function fake(events = []) {
  const asked = [];
  const client = {
    pollEvent: () => events.shift(),
    send(channel, payload) {
      if (channel === 9) throw Object.assign(new Error("no"), { reason: "noSuchChannel" });
      if (channel === 8) throw new Error("something else");
      asked.push(`send ${channel} ${new TextDecoder().decode(payload)}`);
    },
    statistics: () => ({ rtt: { smoothed: 25 } }),
    close: () => asked.push("close"),
  };
  const connect = (url, options) => {
    if (url === "bad") throw new Error("no URL");
    asked.push(`connect ${url} ${new TextDecoder().decode(options.token)} ${options.reconnect}`);
    return client;
  };
  return { asked, events, library: { connect } };
}

function connect(heap, url) {
  const length = put(heap, 100, url);
  return heap.call.SkipstoneWeb_Connect(100, length, 500, put(heap, 500, "Ann"));
}

test("a page without the browser client and an invalid URL are refused", () => {
  assert.equal(connect(load(undefined), "https://a"), -11);
  assert.equal(connect(load(fake().library), "bad"), -13);
});

test("messages go out, and a refusal has the number that C# knows", () => {
  const page = fake();
  const heap = load(page.library);
  assert.equal(connect(heap, "https://a:7777"), 0);
  assert.equal(connect(heap, "https://b"), 1);
  const length = put(heap, 1000, "héllo");
  assert.equal(heap.call.SkipstoneWeb_Send(0, 3, 1000, length), 0);
  assert.equal(heap.call.SkipstoneWeb_Send(0, 9, 1000, length), -18);
  assert.equal(heap.call.SkipstoneWeb_Send(0, 8, 1000, length), -99);
  assert.equal(heap.call.SkipstoneWeb_Rtt(0), 25);
  heap.call.SkipstoneWeb_Close(0);
  assert.deepEqual(page.asked, ["connect https://a:7777 Ann false", "connect https://b Ann false", "send 3 héllo", "close"]);
  assert.equal(heap.call.SkipstoneWeb_Send(0, 3, 1000, length), -5, "a closed client is nobody");
  assert.equal(heap.call.SkipstoneWeb_Take(0, 2000, 3000, 10), 0);
  heap.call.SkipstoneWeb_Close(0);
});

test("events come in order, unknown ones are left out, and one that does not fit stays", () => {
  const page = fake([
    { type: "connected" },
    { type: "acknowledged", id: 1 },
    { type: "message", channel: 70, payload: new TextEncoder().encode("0123456789") },
    { type: "closed", close: { code: 1000, reason: "bye" } },
  ]);
  const heap = load(page.library);
  connect(heap, "https://a");
  const take = (capacity) => [heap.call.SkipstoneWeb_Take(0, 2000, 3000, capacity), ...heap.numbers.slice(500, 504)];
  assert.deepEqual(take(4), [1, 2, 0, 0, 0]);
  assert.deepEqual(take(4), [2, 3, 70, 10, 0]);
  assert.deepEqual(take(10), [1, 3, 70, 10, 0]);
  assert.equal(text(heap, 3000, 10), "0123456789");
  assert.deepEqual(take(10), [1, 7, 0, 3, 1000]);
  assert.equal(text(heap, 3000, 3), "bye");
  assert.equal(take(10)[0], 0);
});
