// The worker: the protocol runs here, so that neither a busy page nor a hidden tab delays an acknowledgement.

import { browserClock } from "../driver/clock";
import type { Order } from "../link/messages";
import { Sessions } from "./sessions";

// The library of types is that of a page.
const scope = globalThis as unknown as {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<Order>) => void): void;
  addEventListener(type: "online", listener: () => void): void;
};

const sessions = new Sessions({
  clock: browserClock(),
  sockets: { WebSocket: globalThis.WebSocket, WebTransport: globalThis.WebTransport },
  epochNow: () => performance.timeOrigin + performance.now(),
  post: (news, transfer) => scope.postMessage(news, transfer),
});
scope.addEventListener("message", (event) => sessions.handle(event.data));
scope.addEventListener("online", () => sessions.onOnline());
