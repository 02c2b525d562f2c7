// Programs written by others at the port: npm's `ws` carries the whole client, Python's `websockets` and aioquic carry
// the second implementation of the protocol, and curl sends plain HTTP requests.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { askOf } from "../../src/asking";
import { driverOptions } from "../../src/choices";
import { Client } from "../../src/client";
import { browserClock } from "../../src/driver/clock";
import type { ClientEvent } from "../../src/events";
import { LocalHost } from "../local";
import { certificate } from "./certificate";
import { freePort, serve, until, type Program } from "./programs";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "skipstone-"));
const STRANGERS = new URL("../../../../interop/python/strangers.py", import.meta.url).pathname;
/** A Python that has the packages; SKIPSTONE_PYTHON names another. */
const PYTHON = process.env["SKIPSTONE_PYTHON"] ?? "python3";
interface Told {
  code?: number;
  stdout: string;
  stderr: string;
}

let [server, port]: [Program?, number?] = [];

beforeAll(async () => {
  const more = certificate(folder) === undefined ? ["--identity", "new"] : [];
  const files = ["--cert", join(folder, "cert.pem"), "--key", join(folder, "key.pem")];
  port = await freePort();
  server = await serve(port, ...(more.length > 0 ? more : files));
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true });
});

test("npm's ws carries a client in Node", async () => {
  const epochNow = (): number => performance.timeOrigin + performance.now();
  const sockets = { WebSocket: WebSocket as unknown as typeof globalThis.WebSocket };
  const host = new LocalHost({ clock: browserClock(), sockets, epochNow });
  const client = new Client(host, driverOptions(`ws://127.0.0.1:${port}`, {}), askOf({ token: "chat node" }));
  const events: ClientEvent[] = [];
  client.onEvent = (event) => events.push(event);
  await until("the connection", () => client.state === "connected" || undefined);
  for (let line = 0; line < 100; line += 1) {
    client.send(0, `line ${line}`);
  }
  const heard = (): string[] =>
    events.flatMap((event) => (event.type === "message" ? new TextDecoder().decode(event.payload) : []));
  await until("all lines", () => heard().length === 100 || undefined);
  expect(heard()).toEqual(Array.from({ length: 100 }, (_, line) => `node: line ${line}`));
  client.close();
  await until("the end", () => client.state === "closed" || undefined);
});

test.each([
  ["websockets", "ws"],
  ["websockets", "wss"],
  ["aioquic", "https"],
])("Python's %s carries the second implementation to %s://", async (carrier, scheme) => {
  const args = [STRANGERS, carrier, `${scheme}://127.0.0.1:${port}`];
  const failed = (error: unknown): Told => error as Told;
  const told: Told = await run(PYTHON, args, { timeout: 50_000 }).catch(failed);
  if (told.code === 2) {
    console.log(`skipped: ${told.stdout.trim()} (pip install websockets aioquic)`);
    return;
  }
  expect(`${told.stdout}${told.stderr}`).toContain("50 lines came back, each once and in order");
});

test("curl is answered in plain HTTP/1.1, and its upgrade is accepted", async () => {
  const status = async (...more: string[]): Promise<string> => {
    const args = ["--http1.1", "-s", "-k", "-o", "/dev/null", "-m", "3", "-w", "%{http_code}", ...more];
    const told = await run("curl", args).catch((error: unknown) => error as { stdout: string });
    return told.stdout;
  };
  const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const headers = [...upgrade, key, "Sec-WebSocket-Protocol: skipstone.1"].flatMap((header) => [
    "-H",
    header,
  ]);
  for (const scheme of ["http", "https"]) {
    const url = `${scheme}://127.0.0.1:${port}`;
    expect(await status(`${url}/healthz`), scheme).toMatch(/^(200|404|426)$/);
    expect(await status(...headers, `${url}/`), scheme).toBe("101");
  }
});
