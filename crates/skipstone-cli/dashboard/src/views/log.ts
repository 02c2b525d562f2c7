// The log: a hundred thousand lines, of which only those in sight are elements.

import { get } from "../api";
import { h, setText } from "../dom";
import { clock, whole } from "../format";
import { LogLoader } from "../log_loader";
import { LINES_MAX, filter } from "../log_store";
import type { LineKind, LogLine } from "../types";
import { visible } from "../virtual";
import type { Model, View } from "./view";

const ROW = 24;

export class LogView implements View {
  readonly element: HTMLElement;
  private readonly scroller = h("div", {
    className: "card log",
    tabIndex: 0,
    attributes: { role: "region", "aria-label": "Lines of the log" },
  });
  private readonly sizer = h("div", { className: "sizer" });
  private readonly window = h("ol", { className: "lines" });
  private readonly count = h("p", { className: "note" });
  private readonly search = h("input", {
    type: "search",
    placeholder: "Filter",
    attributes: { "aria-label": "Filter lines" },
    on: {
      input: () => {
        this.refilter();
      },
    },
  });
  private readonly follow = h("input", { type: "checkbox", id: "follow", checked: true });
  private readonly kinds: HTMLSelectElement;
  private shown: LogLine[] = [];
  private isOpen = false;
  private readonly loader: LogLoader;
  private frame = 0;

  constructor(private readonly model: Model) {
    this.loader = new LogLoader(model.log, (before) =>
      get<LogLine[]>(`api/log${before === undefined ? "" : `?before=${before}`}`),
    );
    const option = (value: string, text: string) => h("option", { value }, text);
    this.kinds = h(
      "select",
      {
        attributes: { "aria-label": "Kinds of lines" },
        on: {
          change: () => {
            this.refilter();
          },
        },
      },
      option("all", "All lines"),
      option("event", "Joins and leaves"),
      option("chat", "Chat"),
    );
    this.scroller.append(this.sizer);
    this.sizer.append(this.window);
    this.scroller.addEventListener(
      "scroll",
      () => {
        // Scrolled up to read: keep the position.
        const { scrollTop, scrollHeight, clientHeight } = this.scroller;
        this.follow.checked = scrollTop + clientHeight > scrollHeight - ROW * 2;
        this.schedule();
      },
      { passive: true },
    );
    this.follow.addEventListener("change", () => {
      this.schedule();
    });
    new ResizeObserver(() => {
      this.schedule();
    }).observe(this.scroller);
    this.element = h(
      "main",
      { id: "main", className: "full", tabIndex: -1 },
      h(
        "div",
        { className: "bar" },
        h("h1", {}, "Log"),
        this.count,
        h("span", { className: "spring" }),
        h("label", { className: "check" }, this.follow, "Follow"),
        this.kinds,
        this.search,
      ),
      this.scroller,
    );
  }

  open(): void {
    this.isOpen = true;
    void this.loader.load(() => {
      this.refilter();
    });
    this.refilter();
  }

  close(): void {
    this.isOpen = false;
  }

  onLog(lines: LogLine[]): void {
    if (!this.isOpen) return;
    // All lines are shown and none was removed, so new lines are appended.
    if (this.shown === this.model.log.lines) this.schedule();
    else if (this.model.log.lines.length === LINES_MAX) this.refilter();
    else {
      this.shown = [...this.shown, ...filter(lines, this.chosen(), this.search.value)];
      this.schedule();
    }
  }

  onLogReset(): void {
    this.loader.reset();
    if (this.isOpen) this.open();
  }

  private refilter(): void {
    this.shown = filter(this.model.log.lines, this.chosen(), this.search.value);
    this.schedule();
  }

  private chosen(): ReadonlySet<LineKind> {
    const { value } = this.kinds;
    if (value === "event") return new Set<LineKind>(["event"]);
    return new Set<LineKind>(value === "chat" ? ["chat", "say"] : ["event", "chat", "say"]);
  }

  /** Draws once a frame, however often it is asked to. */
  private schedule(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    if (!this.isOpen) return;
    const lines = this.shown;
    this.sizer.style.height = `${Math.max(lines.length, 1) * ROW}px`;
    if (this.follow.checked) this.scroller.scrollTop = this.scroller.scrollHeight;
    const range = visible(this.scroller.scrollTop, this.scroller.clientHeight, ROW, lines.length);
    this.window.style.transform = `translateY(${range.from * ROW}px)`;
    const rows = this.window.children;
    while (rows.length > range.to - range.from) this.window.lastElementChild?.remove();
    for (let index = range.from; index < range.to; index += 1) {
      const line = lines[index];
      if (line) showLine(rows[index - range.from] ?? this.window.appendChild(makeLine()), line);
    }
    const all = this.model.log.lines.length;
    const of = lines.length === all ? "" : ` of ${whole(all)}`;
    setText(this.count, `${whole(lines.length)}${of} ${all === 1 ? "line" : "lines"}`);
  }
}

export function makeLine(): HTMLElement {
  return h("li", {}, h("time"), h("b"), h("span"));
}

export function showLine(row: Element, [, at, kind, speaker, text]: LogLine): void {
  const [time, name, said] = row.children;
  if (!time || !name || !said) return;
  row.className = kind;
  setText(time, clock(at));
  setText(name, speaker);
  setText(said, text);
  said.setAttribute("title", text);
}
