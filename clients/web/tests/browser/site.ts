// A folder over HTTP, as a page's server would have it.

import { createServer, type Server } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import type { AddressInfo } from "node:net";

const ROOT = new URL("../../", import.meta.url).pathname;
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

export interface Site {
  url: string;
  close(): Promise<void>;
}

/** Serves files of a folder, or of the package; `policy` is the Content-Security-Policy of its pages. */
export async function serveSite(policy?: string, root = ROOT): Promise<Site> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://site").pathname));
    readFile(join(root, path)).then(
      (content) => {
        const headers: Record<string, string> = {
          "content-type": TYPES[extname(path)] ?? "application/octet-stream",
        };
        if (policy !== undefined) {
          headers["content-security-policy"] = policy;
        }
        response.writeHead(200, headers).end(content);
      },
      () => response.writeHead(path === "/favicon.ico" ? 204 : 404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
