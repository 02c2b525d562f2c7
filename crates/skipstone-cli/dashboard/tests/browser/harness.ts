// A server of the tool, its guests, and a browser: started for a test, ended with it.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type Page, chromium } from "playwright-core";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const target = process.env["CARGO_TARGET_DIR"] ?? join(root, "target");

/** The tool, as it was built last, or as the environment names it. */
export const TOOL =
  process.env["SKIPSTONE_TOOL"] ??
  join(target, "debug", process.platform === "win32" ? "skipstone.exe" : "skipstone");

/** Where screenshots are kept. */
export const SHOTS = join(target, "dashboard");

export class Process {
  output = "";
  private readonly child: ChildProcess;

  constructor(...words: string[]) {
    this.child = spawn(TOOL, words, { stdio: "pipe" });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (chunk: Buffer) => (this.output += chunk.toString()));
    }
  }

  /** Waits until it has printed this; returns everything that it has printed. */
  async until(text: string): Promise<string> {
    await eventually(() => this.output.includes(text), `"${text}" in ${this.output}`);
    return this.output;
  }

  type(line: string): void {
    this.child.stdin?.write(`${line}\n`);
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill(signal);
    await ended;
  }
}

export interface Served {
  process: Process;
  /** The page. */
  page: string;
  /** Native clients. */
  url: string;
}

/** A server on free ports. */
export async function serve(...more: string[]): Promise<Served> {
  const words = [
    "--listen",
    "127.0.0.1:0",
    "--console",
    "off",
    "--identity",
    "new",
    "--dashboard",
    "127.0.0.1:0",
  ];
  const process = new Process("serve", ...words, ...more);
  const text = await process.until("stop with Ctrl-C");
  const after = (name: string) => new RegExp(`${name}\\s+(\\S+)`).exec(text)?.[1] ?? "";
  return { process, page: after("dashboard"), url: after("native") };
}

/** NATS, with agents of these names; nothing where no nats-server is installed. */
export async function agents(...names: string[]): Promise<{ url: string; all: Process[] } | undefined> {
  const places = ["/usr/sbin/nats-server", "/usr/bin/nats-server"];
  if (!process.env["SKIPSTONE_NATS_SERVER"] && !places.some(existsSync)) return undefined;
  const keep = (name: string) => mkdtempSync(join(tmpdir(), `skipstone-agent-${name}-`));
  const start = (fleet: string, name: string) =>
    new Process("agent", "--fleet", fleet, "--name", name, "--keep", keep(name));
  const [first = "", ...others] = names;
  const leader = start("local", first);
  const url = /nats:\/\/[\d.:]+/.exec(await leader.until("waits at"))?.[0] ?? "";
  const more = others.map((name) => start(url, name));
  await Promise.all(more.map((agent) => agent.until("waits at")));
  return { url, all: [leader, ...more] };
}

/** Chromium, where this machine has it. */
export async function launch(): Promise<Browser> {
  const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const executablePath = process.env["CHROMIUM"] ?? places.find(existsSync);
  if (!executablePath) throw new Error("no Chromium: set CHROMIUM to its program");
  const args = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  return chromium.launch({ executablePath, args });
}

/** Everything that a page complained about, and every request that left the machine's own server. */
export function complaints(page: Page, origin: string): string[] {
  const all: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") all.push(message.text());
  });
  page.on("pageerror", (error) => all.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) all.push(`a request to ${request.url()}`);
  });
  return all;
}

export async function eventually(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`it did not come to pass: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
