// The carriers that take part in a race: those of a server that this browser has.

import type { CarrierChoice } from "../options";
import type { Sockets } from "./carrier";
import type { Clock } from "./clock";
import type { Contestant } from "./race";
import { openWebSocket } from "./websocket";
import { openWebTransport } from "./webtransport";

export type Hashes = readonly Uint8Array<ArrayBuffer>[];

/** In the order of the choices. `asked` are hashes of certificates in addition to those of each choice. */
export function contestants(
  choices: readonly CarrierChoice[],
  asked: Hashes,
  { WebSocket, WebTransport }: Sockets,
  clock: Clock,
): Contestant[] {
  return choices.flatMap((choice): Contestant[] => {
    if (choice.kind === "websocket") {
      return WebSocket === undefined
        ? []
        : [{ name: choice.url, open: () => openWebSocket(choice.url, WebSocket) }];
    }
    const hashes = [...choice.hashes, ...asked].map((value) => ({ algorithm: "sha-256", value }));
    const options = hashes.length > 0 ? { serverCertificateHashes: hashes } : {};
    const open = (Session: typeof globalThis.WebTransport) => () =>
      openWebTransport(choice.url, options, Session, clock);
    return WebTransport === undefined ? [] : [{ name: choice.url, open: open(WebTransport) }];
  });
}
