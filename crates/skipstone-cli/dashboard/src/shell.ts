// What surrounds the views: the bar above, the navigation, the word about the connection, the question for the token.

import { h, setText, svg } from "./dom";
import { applyTheme, currentTheme, type Theme } from "./theme";
import type { ServerFacts } from "./types";

export const PLACES = [
  ["overview", "Overview", "M3 13h4l3-9 4 16 3-7h4"],
  [
    "clients",
    "Clients",
    "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 10c0-4 3-7 7-7s7 3 7 7M16 3a4 4 0 0 1 0 8m2 4c3 1 4 3 4 6",
  ],
  ["log", "Log", "M4 5h16M4 10h16M4 15h10M4 20h7"],
  ["chat", "Chat", "M4 5h16v11H10l-5 4v-4H4Z"],
  ["stress", "Stress", "M12 3v4M5 8l3 2M19 8l-3 2M4 17a8 8 0 0 1 16 0M12 17l3-5"],
] as const;

export class Shell {
  private readonly links = new Map<string, HTMLAnchorElement>();
  private readonly status = h("span", { className: "status", attributes: { role: "status" } }, "connecting");
  private readonly address = h("code", { className: "address" }, "");
  private readonly host = h("div", { className: "view" });

  constructor() {
    const nav = h(
      "nav",
      { attributes: { "aria-label": "Views" } },
      ...PLACES.map(([name, label, shape]) => {
        const box = { viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" };
        const link = h("a", { href: `#/${name}` }, h("span", {}, label));
        link.prepend(svg("svg", box, svg("path", { d: shape })));
        this.links.set(name, link);
        return link;
      }),
    );
    const logo = h("img", { src: "./icon.svg", alt: "", width: 26, height: 26 });
    const skip = h(
      "a",
      {
        className: "skip",
        href: "#main",
        on: {
          click: (event) => {
            event.preventDefault();
            document.getElementById("main")?.focus();
          },
        },
      },
      "Skip to the content",
    );
    const top = h(
      "header",
      { className: "top" },
      h("a", { className: "brand", href: "#/overview" }, logo, h("span", {}, "Skipstone")),
      this.status,
      h("span", { className: "spring" }),
      this.address,
      themeButton(),
    );
    document.body.append(skip, top, nav, this.host);
  }

  show(view: HTMLElement, name: string, title: string): void {
    this.host.replaceChildren(view);
    document.title = `${title} – Skipstone`;
    for (const [place, link] of this.links) {
      if (place === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  setServer(server: ServerFacts): void {
    setText(this.address, server.listen);
    this.address.title = `${server.url}\nversion ${server.version}, ${server.shards} shard(s), ${server.workload}`;
  }

  /** The word about the connection, and how it is meant. */
  setStatus(text: string, tone: "good" | "busy" | "bad"): void {
    setText(this.status, text);
    this.status.dataset["tone"] = tone;
  }
}

/** Asks for the token until it is entered. */
export function askToken(): Promise<string> {
  return new Promise((resolve) => {
    const input = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
    const dialog = h(
      "dialog",
      { className: "card", attributes: { "aria-labelledby": "token-title" } },
      h(
        "form",
        {
          method: "dialog",
          on: {
            submit: (event) => {
              event.preventDefault();
              dialog.close();
              dialog.remove();
              resolve(input.value);
            },
          },
        },
        h("h2", { id: "token-title" }, "This dashboard asks for a token"),
        h("label", { htmlFor: "token" }, "Token"),
        h(
          "div",
          { className: "field" },
          input,
          h("button", { type: "submit", className: "primary" }, "Open"),
        ),
      ),
    );
    dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function themeButton(): HTMLElement {
  const next: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
  const label = () => `Theme: ${currentTheme()}`;
  const text = h("span", { className: "hidden" }, label());
  const box = { viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" };
  const shape = "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm0 0v18c5 0 9-4 9-9s-4-9-9-9Z";
  const button = h("button", { type: "button", className: "plain", title: label() }, text);
  button.prepend(svg("svg", box, svg("path", { d: shape, class: "half" })));
  button.addEventListener("click", () => {
    applyTheme(next[currentTheme()]);
    setText(text, label());
    button.title = label();
  });
  return button;
}
