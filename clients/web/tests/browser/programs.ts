// The project's own tool as a server and as a native player. SKIPSTONE_BIN is its path.

import { spawn, type ChildProcess } from "node:child_process";
import { createSocket } from "node:dgram";
import { createServer, type AddressInfo } from "node:net";

const BIN =
  process.env["SKIPSTONE_BIN"] ?? new URL("../../../../target/debug/skipstone", import.meta.url).pathname;
/** Where cargo builds examples next to programs. */
export const EXAMPLES = BIN.replace(/skipstone$/, "examples");
/** The game of moving dots. */
export const DOTS = `${EXAMPLES}/dots`;
const PATIENCE_MS = 20_000;

/** A running program, whose lines are kept. */
export class Program {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(args: readonly string[], bin = BIN) {
    this.#child = spawn(bin, args, { stdio: ["pipe", "pipe", "inherit"] });
    let rest = "";
    this.#child.stdout?.on("data", (data: Buffer) => {
      const parts = (rest + data.toString()).split("\n");
      rest = parts.pop() ?? "";
      this.lines.push(...parts);
    });
    this.#ended = new Promise((resolve) => this.#child.on("close", () => resolve()));
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** The first line that holds this, from the line of that number on. */
  line(text: string, from = 0): Promise<string> {
    return until(`a line with "${text}"`, () => this.lines.slice(from).find((line) => line.includes(text)));
  }

  /** Its standard input ends. */
  end(): void {
    this.#child.stdin?.end();
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
  }
}

/** A server on this port. */
export async function serve(port: number, ...more: string[]): Promise<Program> {
  const server = new Program([
    "serve",
    "--listen",
    `127.0.0.1:${port}`,
    "--console",
    "off",
    "--allow-plain",
    ...more,
  ]);
  await server.line("serves on");
  return server;
}

/** A native player. */
export async function chat(url: string, name: string): Promise<Program> {
  const player = new Program(["chat", url, "--name", name]);
  await player.line("connected to");
  return player;
}

/** A port that is free for TCP and UDP now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const tcp = createServer();
    await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket("udp4");
    const isFree = await new Promise<boolean>((resolve) => {
      udp.once("error", () => resolve(false));
      udp.bind(port, "127.0.0.1", () => resolve(true));
    });
    if (isFree) {
      udp.close();
    }
    await new Promise((resolve) => tcp.close(resolve));
    if (isFree) {
      return port;
    }
  }
}

/** Waits until there is something. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`${what} did not come within ${patienceMs} ms`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
