// The chat: what people say, and a word to all of them.

import { command, get } from "../api";
import { h } from "../dom";
import { Notice } from "../notice";
import type { LogLine } from "../types";
import { makeLine, showLine } from "./log";
import type { Model, View } from "./view";

const LINES = 300;

export class Chat implements View {
  readonly element: HTMLElement;
  private readonly lines = h("ol", { className: "lines" });
  private readonly scroller = h(
    "div",
    { className: "spoken", tabIndex: 0, attributes: { role: "log", "aria-label": "Chat" } },
    this.lines,
  );
  private readonly empty = h("p", { className: "note empty" }, "Nobody has said anything yet.");
  private readonly input = h("input", {
    id: "say",
    maxLength: 400,
    autocomplete: "off",
    placeholder: "To everybody",
  });
  private readonly notice = new Notice();
  private last = -1;
  private isLoaded = false;
  private isOpen = false;

  constructor(private readonly model: Model) {
    this.element = h(
      "main",
      { id: "main", className: "full", tabIndex: -1 },
      h("div", { className: "bar" }, h("h1", {}, "Chat"), this.notice.element),
      h("div", { className: "card conversation" }, this.empty, this.scroller),
      h(
        "form",
        {
          className: "field say",
          on: {
            submit: (event) => {
              event.preventDefault();
              void this.say();
            },
          },
        },
        h("label", { htmlFor: "say", className: "hidden" }, "Say to everybody"),
        this.input,
        h("button", { type: "submit", className: "primary" }, "Say"),
      ),
    );
  }

  open(): void {
    this.isOpen = true;
    this.show(this.model.log.lines);
    this.input.focus({ preventScroll: true });
    if (this.isLoaded) return;
    this.isLoaded = true;
    void this.loadOlder();
  }

  close(): void {
    this.isOpen = false;
  }

  onLog(lines: LogLine[]): void {
    this.show(lines);
  }

  onLogReset(): void {
    this.isLoaded = false;
    this.lines.replaceChildren();
    this.last = -1;
    if (this.isOpen) this.open();
  }

  private async loadOlder(): Promise<void> {
    const first = this.model.log.first;
    try {
      const older = await get<LogLine[]>(`api/log${first === undefined ? "" : `?before=${first}`}`);
      this.model.log.prepend(older);
      this.lines.replaceChildren();
      this.last = -1;
      this.show(this.model.log.lines);
    } catch {
      this.isLoaded = false;
    }
  }

  private show(lines: LogLine[]): void {
    const spoken = lines.filter((line) => line[2] !== "event" && line[0] > this.last).slice(-LINES);
    for (const line of spoken) {
      const row = makeLine();
      showLine(row, line);
      this.lines.append(row);
      this.last = line[0];
    }
    while (this.lines.children.length > LINES) this.lines.firstElementChild?.remove();
    this.empty.hidden = this.lines.children.length > 0;
    if (spoken.length > 0) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  private async say(): Promise<void> {
    const text = this.input.value.trim();
    if (text === "") return;
    if (await this.notice.give(command("api/say", { text }))) this.input.value = "";
  }
}
