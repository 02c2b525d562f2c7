// The answer to an order: what was done goes away by itself, a refusal stays until the next order.

import { h, setText } from "./dom";

const SHOWN_MS = 5000;

export class Notice {
  readonly element = h("p", { className: "note notice", attributes: { role: "status" } });
  private timer = 0;

  /** Gives an order; true if it was taken. */
  async give(order: Promise<string>): Promise<boolean> {
    this.clear();
    try {
      this.show(await order, "");
      this.timer = window.setTimeout(() => {
        this.clear();
      }, SHOWN_MS);
      return true;
    } catch (error) {
      this.refuse(error);
      return false;
    }
  }

  /** Why something could not be done. */
  refuse(error: unknown): void {
    this.show(error instanceof Error ? error.message : String(error), "bad");
  }

  clear(): void {
    this.show("", "");
  }

  private show(text: string, tone: "" | "bad"): void {
    clearTimeout(this.timer);
    setText(this.element, text);
    this.element.dataset["tone"] = tone;
  }
}
