// Server-sent events over fetch, which can send headers, as EventSource cannot: so that no cookie is needed.

export interface SseEvent {
  name: string;
  data: string;
}

/** Cuts a stream of text into events. */
export class SseParser {
  private rest = "";
  private name = "message";
  private data: string[] = [];

  push(text: string): SseEvent[] {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.line(line));
  }

  private line(line: string): SseEvent[] {
    if (line === "") return this.finish();
    if (line.startsWith(":")) return [];
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.name = value;
    if (field === "data") this.data.push(value);
    return [];
  }

  private finish(): SseEvent[] {
    const { name, data } = this;
    this.name = "message";
    this.data = [];
    return data.length > 0 ? [{ name, data: data.join("\n") }] : [];
  }
}

/** How long to wait before a try, in milliseconds: twice as long each time, up to 5 s. */
export function backOff(failures: number): number {
  return Math.min(250 * 2 ** failures, 5000);
}
