// The smallest client, which sends one message to a server, as in every other language in docs/guide/languages.md.

import { connect } from "skipstone";

/** Sends a text and returns the answer. */
export async function ask(url: string, text: string): Promise<string> {
  const client = connect(url, { reconnect: false });
  for await (const event of client) {
    switch (event.type) {
      case "connected":
        client.send(0, text);
        break;
      case "message":
        client.close({ code: 0, reason: "thank you" });
        return new TextDecoder().decode(event.payload);
      case "closed":
        throw new Error(event.close.reason);
    }
  }
  throw new Error("the client was closed");
}
