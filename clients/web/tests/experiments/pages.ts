// The server of the measurements, in a process of its own: crates/skipstone-cli/examples/pages/main.rs. SKIPSTONE_PAGES
// is its path.

import { Program } from "../browser/programs";

export const PAGES =
  process.env["SKIPSTONE_PAGES"] ??
  new URL("../../../../target/release/examples/pages", import.meta.url).pathname;

export interface PagesServer {
  program: Program;
  port: number;
  /** SHA-256 of its certificate. */
  hash: string;
  /** Datagrams without a protocol, by the same process. */
  floor: { port: number; hash: string };
  /** For native clients. */
  url: string;
}

/** Starts it at an address; `beneath` is a command whose child the server becomes. */
export async function servePages(address: string, beneath: readonly string[] = []): Promise<PagesServer> {
  const [bin, ...args] = [...beneath, PAGES, "serve", address];
  const program = new Program(args, bin);
  const announced = JSON.parse(await program.line("{")) as Omit<PagesServer, "program">;
  return { program, ...announced };
}
