// The page: it starts, listens to the server, and shows one view at a time.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { ApiError, get, setToken, stream } from "./api";
import { Frames } from "./frames";
import { LogStore } from "./log_store";
import { PLACES, Shell, askToken } from "./shell";
import { backOff, type SseEvent } from "./sse";
import { applyTheme, currentTheme } from "./theme";
import type { Frame, LogLine, Start, StressView } from "./types";
import { Chat } from "./views/chat";
import { ClientView } from "./views/client";
import { Clients } from "./views/clients";
import { LogView } from "./views/log";
import { Overview } from "./views/overview";
import { Stress } from "./views/stress";
import type { Model, View } from "./views/view";

applyTheme(currentTheme());
const model: Model = { server: undefined, stress: undefined, frames: new Frames(), log: new LogStore() };
const shell = new Shell();
const views: Record<string, View> = {
  overview: new Overview(model),
  clients: new Clients(model),
  client: new ClientView(model),
  log: new LogView(model),
  chat: new Chat(model),
  stress: new Stress(model),
};
let shown: View | undefined;
let ended = "";

function navigate(): void {
  const [name = "", ...rest] = location.hash.replace(/^#\//, "").split("/");
  const place = PLACES.find(([known]) => known === name) ?? PLACES[0];
  const view = views[place[0] === "clients" && rest.length > 0 ? "client" : place[0]];
  if (!view) return;
  shown?.close();
  shown = view;
  shell.show(view.element, place[0], place[1]);
  view.open(rest.map(decoded).join("/"));
}

/** A part of the address, unchanged if it is invalid. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function onEvent({ name, data }: SseEvent): void {
  const value: unknown = JSON.parse(data);
  if (name === "frame") {
    model.frames.add(value as Frame);
    shown?.onFrame?.();
  } else if (name === "log") {
    const lines = value as LogLine[];
    model.log.append(lines);
    shown?.onLog?.(lines);
  } else if (name === "stress") {
    model.stress = value as StressView;
    shown?.onStress?.();
  } else if (name === "missed") {
    resetLog();
  } else if (name === "end") {
    ended = value as string;
  }
}

/** Missed lines are unknown: the log is fetched again. */
function resetLog(): void {
  model.log.clear();
  for (const view of Object.values(views)) view.onLogReset?.();
}

/** The first answer: what the server is, and its last minutes. */
async function start(): Promise<void> {
  const first = await get<Start>("api/start");
  if (model.server) resetLog();
  model.server = first.server;
  model.stress = first.stress;
  shell.setServer(first.server);
  model.frames.add(...first.frames);
  performance.mark("ready");
  document.documentElement.dataset["ready"] = "true";
  shown?.onFrame?.();
  shown?.onStress?.();
}

async function listen(): Promise<never> {
  for (let failures = 0; ; failures += 1) {
    try {
      ended = "";
      await start();
      const onOpen = (): void => {
        // A stream that is refused is asked for again less and less often.
        failures = 0;
        shell.setStatus("live", "good");
      };
      await stream(onOpen, onEvent, new AbortController().signal);
      shell.setStatus(ended || "the connection ended", "bad");
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        shell.setStatus("locked", "busy");
        setToken(await askToken());
        continue;
      }
      shell.setStatus(error instanceof ApiError ? error.message : ended || "the server is away", "bad");
    }
    await new Promise((resolve) => setTimeout(resolve, backOff(failures)));
  }
}

window.addEventListener("hashchange", navigate);
navigate();
void listen();
