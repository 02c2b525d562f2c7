// A player of examples/src/dots.rs, with the same packets: it sends inputs, draws snapshots, and shows loss and
// latency.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { SendError, type Client, type ClientEvent } from "skipstone";
import { PlayerInputSchema, SnapshotSchema, WelcomeSchema, type Snapshot } from "./generated/game_pb";
import { element, field, join, presetServer } from "./page";

/** Channels of the packets. */
const CHANNEL = { input: 0, snapshot: 1, welcome: 3 } as const;
/** 30 inputs a second. */
const INPUT_MS = 1_000 / 30;
/** Columns of the picture of latencies, one for each snapshot. */
const COLUMNS = 160;
/** The height of the picture, in ms. */
const LATENCY_MAX = 200;

const form = element("join", HTMLFormElement);
const world = element("world", HTMLCanvasElement);
const picture = element("latency", HTMLCanvasElement);
const table = element("figures", HTMLTableElement);

let client: Client | undefined;
let own: number | undefined;
let snapshot: Snapshot | undefined;
let frame = 0;
/** When each of the last inputs left, by frame. */
const sentAt = new Map<number, number>();
/** Milliseconds from input to snapshot; `undefined` for a snapshot that never arrived. */
const latencies: (number | undefined)[] = [];
let missing = 0;
let received = 0;
const held = new Set<string>();
let finger: { x: number; y: number } | undefined;

presetServer(form);
form.addEventListener("submit", (submit) => {
  submit.preventDefault();
  client = join(client, field(form, "url"), {}, onEvent);
});

function onEvent(event: ClientEvent): void {
  if (event.type === "connected") {
    [own, snapshot, frame, missing, received] = [undefined, undefined, 0, 0, 0];
    sentAt.clear();
    latencies.length = 0;
  } else if (event.type === "message" && event.channel === CHANNEL.welcome) {
    own = fromBinary(WelcomeSchema, event.payload).id;
  } else if (event.type === "message" && event.channel === CHANNEL.snapshot) {
    onSnapshot(fromBinary(SnapshotSchema, event.payload));
  }
}

function onSnapshot(next: Snapshot): void {
  const before = snapshot?.tick ?? next.tick - 1;
  if (next.tick <= before) {
    // It was considered lost, and is only late.
    missing = Math.max(0, missing - 1);
    return;
  }
  received += 1;
  missing += next.tick - before - 1;
  for (let gap = before + 1; gap < next.tick && gap < before + COLUMNS; gap += 1) {
    latencies.push(undefined);
  }
  snapshot = next;
  const shown = next.players.find((player) => player.id === own)?.frame ?? 0;
  const left = sentAt.get(shown);
  if (left !== undefined) {
    latencies.push(performance.now() - left);
  }
  [...sentAt.keys()].filter((old) => old < shown).forEach((old) => sentAt.delete(old));
  latencies.splice(0, latencies.length - COLUMNS);
}

/** The direction of the keys, or of the finger. */
function direction(): { x: number; y: number } {
  const axis = (more: string[], less: string[]): number =>
    Number(more.some((key) => held.has(key))) - Number(less.some((key) => held.has(key)));
  const me = snapshot?.players.find((player) => player.id === own);
  if (finger !== undefined && me !== undefined) {
    const [x, y] = [finger.x - me.x, finger.y - me.y];
    const far = Math.hypot(x, y);
    return far < 0.02 ? { x: 0, y: 0 } : { x: x / far, y: y / far };
  }
  return { x: axis(["ArrowRight", "d"], ["ArrowLeft", "a"]), y: axis(["ArrowUp", "w"], ["ArrowDown", "s"]) };
}

setInterval(() => {
  if (client?.state !== "connected") {
    return;
  }
  frame += 1;
  const { x, y } = direction();
  sentAt.set(frame, performance.now());
  const input = create(PlayerInputSchema, { frame, moveX: x, moveY: y });
  try {
    client.send(CHANNEL.input, toBinary(PlayerInputSchema, input));
  } catch (error) {
    // The queue is full: the next input is newer anyway.
    if (!(error instanceof SendError)) {
      throw error;
    }
  }
}, INPUT_MS);

addEventListener("keydown", ({ key, target }) => {
  if (!(target instanceof HTMLInputElement)) {
    held.add(key);
  }
});
addEventListener("keyup", ({ key }) => held.delete(key));
world.addEventListener("pointermove", (event) => {
  const box = world.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  finger = event.buttons > 0 ? { x: x * 2 - 1, y: 1 - y * 2 } : undefined;
});
world.addEventListener("pointerup", () => (finger = undefined));

function draw(): void {
  const context = world.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  context?.clearRect(0, 0, world.width, world.height);
  for (const player of snapshot?.players ?? []) {
    if (context === null) {
      break;
    }
    const [x, y] = [((player.x + 1) / 2) * world.width, ((1 - player.y) / 2) * world.height];
    context.beginPath();
    context.arc(x, y, 10, 0, 2 * Math.PI);
    context.fillStyle = `hsl(${(player.id * 67) % 360} 70% 50%)`;
    context.fill();
    if (player.id === own) {
      context.strokeStyle = style.color;
      context.lineWidth = 3;
      context.stroke();
    }
  }
  drawLatencies(style);
  requestAnimationFrame(draw);
}

function drawLatencies(style: CSSStyleDeclaration): void {
  const context = picture.getContext("2d");
  if (context === null) {
    return;
  }
  const { width, height } = picture;
  context.clearRect(0, 0, width, height);
  latencies.forEach((latency, at) => {
    const x = (at / COLUMNS) * width;
    const share = latency === undefined ? 1 : Math.min(latency / LATENCY_MAX, 1);
    context.fillStyle = style.getPropertyValue(latency === undefined ? "--warn" : "--accent");
    context.globalAlpha = latency === undefined ? 0.35 : 1;
    context.fillRect(x, height - share * height, width / COLUMNS - 0.5, share * height);
  });
  context.globalAlpha = 1;
}

setInterval(() => {
  const statistics = client?.statistics();
  const known = latencies.filter((latency) => latency !== undefined).sort((a, b) => a - b);
  const ms = (value: number | undefined): string => (value === undefined ? "-" : `${value.toFixed(1)} ms`);
  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
  const rows: [string, string][] = [
    ["Players", String(snapshot?.players.length ?? 0)],
    ["Carrier", client?.carrier ?? "-"],
    ["Round trip", ms(statistics?.rtt.smoothed)],
    ["Input to picture, median", ms(known[Math.floor(known.length / 2)])],
    ["Input to picture, worst", ms(known.at(-1))],
    ["Snapshots that never came", `${missing} of ${received + missing}`],
    ["Loss up", percent(statistics?.sending.loss ?? 0)],
    ["Loss down", percent(statistics?.receiving.loss ?? 0)],
    ["Repaired", String(statistics?.redundancy.packetsRecovered ?? 0)],
    ["Bytes per second down", String(Math.round(statistics?.receiving.ipBytesPerSecond ?? 0))],
    ["Server's clock", ms(client?.serverTime()?.error).replace(/^/, "± ")],
  ];
  table.tBodies[0]?.remove();
  const body = table.createTBody();
  for (const [name, value] of rows) {
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    row.insertCell().textContent = value;
  }
}, 250);

requestAnimationFrame(draw);
