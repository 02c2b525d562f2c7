// A chat with all clients of `skipstone serve`: channel 0 has lines, channel 1 words (WIRE.md section 14).

import { SendError, type Client } from "skipstone";
import { element, field, join, presetServer } from "./page";

const LINES = 0;
const LINES_MAX = 1_000;

const form = element("join", HTMLFormElement);
const say = element("say", HTMLFormElement);
const lines = element("lines", HTMLElement);
const decoder = new TextDecoder();
let client: Client | undefined;

presetServer(form);
form.addEventListener("submit", (submit) => {
  submit.preventDefault();
  const options = { token: `chat ${field(form, "name")}` };
  client = join(client, field(form, "url"), options, (event) => {
    if (event.type === "message" && event.channel === LINES) {
      show(decoder.decode(event.payload));
    }
  });
});

say.addEventListener("submit", (submit) => {
  submit.preventDefault();
  const line = field(say, "line");
  if (line === "") {
    return;
  }
  try {
    client?.send(LINES, line);
    say.reset();
  } catch (error) {
    show(error instanceof SendError ? error.message : String(error));
  }
});

function show(text: string): void {
  const isAtEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 4;
  const line = document.createElement("p");
  line.textContent = text;
  lines.append(line);
  while (lines.childElementCount > LINES_MAX) {
    lines.firstElementChild?.remove();
  }
  if (isAtEnd) {
    lines.scrollTop = lines.scrollHeight;
  }
}
