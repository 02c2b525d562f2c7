// The beginning of a client.

import { askOf } from "./asking";
import { Client, failure } from "./client";
import { driverOptions } from "./choices";
import { WorkerHost, type Host } from "./link/host";
import type { ClientOptions } from "./options";
import InlineWorker from "./worker/main?worker&inline";

/** The worker that all clients of the page share. */
let shared: Host | undefined;

/**
 * Begins to connect; `connected` or `closed` follows. With `https://HOST:PORT` WebTransport is tried first, and a
 * WebSocket soon after; `wss://` and `ws://` are WebSockets only. The default port is 7777.
 *
 * Throws a `ConnectError` if the URL or an option cannot be.
 */
export function connect(url: string, options: ClientOptions = {}): Client {
  return new Client(hostOf(options.worker), driverOptions(url, options), askOf(options));
}

function hostOf(worker: ClientOptions["worker"]): Host {
  if (worker !== undefined) {
    return new WorkerHost(worker, failure);
  }
  shared ??= new WorkerHost(() => new InlineWorker(), failure);
  return shared;
}
