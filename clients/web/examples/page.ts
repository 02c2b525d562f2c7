// Shared by the pages of the examples.

import { ConnectError, connect, type Client, type ClientEvent, type ClientOptions } from "skipstone";

/** The element with this id. */
export function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
}

/** A text field of a form. */
export function field(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** Connects in place of the previous client; shows the state in the page's status line. */
export function join(
  before: Client | undefined,
  url: string,
  options: ClientOptions,
  onEvent: (event: ClientEvent) => void,
): Client | undefined {
  const state = element("state", HTMLElement);
  before?.close({ reason: "the page joins again" });
  if (before !== undefined) {
    before.onEvent = undefined;
  }
  try {
    const client = connect(url, options);
    state.textContent = "Connecting…";
    client.onEvent = (event) => {
      if (event.type === "connected") {
        state.textContent = `Connected by ${event.carrier === "webtransport" ? "WebTransport" : "WebSocket"}.`;
      } else if (event.type === "closed") {
        const { code, reason } = event.close;
        const next = event.retryIn === undefined ? "" : ` Again in ${(event.retryIn / 1_000).toFixed(1)} s.`;
        state.textContent = `Closed (${code}): ${reason || "no reason"}.${next}`;
      }
      onEvent(event);
    };
    return client;
  } catch (error) {
    if (error instanceof ConnectError) {
      state.textContent = error.message;
      return undefined;
    }
    throw error;
  }
}

/** The form contains the server that the page's URL names (`?server=…`). */
export function presetServer(form: HTMLFormElement): void {
  const server = new URLSearchParams(location.search).get("server");
  const input = form.elements.namedItem("url");
  if (server !== null && input instanceof HTMLInputElement) {
    input.value = server;
  }
}
