// URLs and options: their meaning, and invalid ones.

import { describe, expect, test } from "vitest";
import { driverOptions } from "../src/choices";
import { ConnectError } from "../src/errors";
import type { ClientOptions } from "../src/options";

const urls = (url: string, options: ClientOptions = {}): string[] =>
  driverOptions(url, options).carriers.map((carrier) => carrier.url);

describe("a URL", () => {
  test.each([
    ["https://example.org", ["https://example.org:7777/", "wss://example.org:7777/"]],
    ["https://example.org:443", ["https://example.org/", "wss://example.org/"]],
    ["https://[::1]:9/game?x=1", ["https://[::1]:9/game?x=1", "wss://[::1]:9/game?x=1"]],
    ["wss://example.org/a", ["wss://example.org:7777/a"]],
    ["ws://127.0.0.1:8000", ["ws://127.0.0.1:8000/"]],
  ])("%s leads to %j", (url, expected) => expect(urls(url)).toEqual(expected));

  test("has the fallback that the options name, or none", () => {
    const fallback = "ws://127.0.0.1:7000";
    expect(urls("https://127.0.0.1:7777", { fallback })).toEqual(["https://127.0.0.1:7777/", `${fallback}/`]);
    expect(urls("https://127.0.0.1:7777", { fallback: false })).toEqual(["https://127.0.0.1:7777/"]);
  });

  test.each([
    "example.org",
    "",
    "http://example.org",
    "skip://example.org",
    "https://example.org#sha256=12",
    "https://example.org#md5=12",
    `wss://example.org#sha256=${"0".repeat(64)}`,
  ])("%j is refused", (url) => expect(() => urls(url)).toThrow(ConnectError));

  test("for a WebSocket has no hashes, nor a function for them", () => {
    const serverCertificateHashes = (): string[] => [];
    expect(() => urls("wss://example.org", { serverCertificateHashes })).toThrow("cannot check");
  });
});

describe("an option out of its range is refused by name", () => {
  test.each<[string, ClientOptions]>([
    ["headStart", { headStart: -1 }],
    ["handshakeTimeout", { handshakeTimeout: Number.NaN }],
    ["queueBytesMax", { queueBytesMax: 10 }],
    ["bandwidthMax", { bandwidthMax: 1 }],
    ["limits.messageBytesMax", { limits: { messageBytesMax: -5 } }],
    ["limits.datagramBytesMax", { limits: { datagramBytesMax: 70_000 } }],
    ["reconnect.pauseMax", { reconnect: { pauseMin: 500, pauseMax: 100 } }],
    ["merging.after", { merging: { after: -1 } }],
    ["hash", { serverCertificateHashes: ["no"] }],
    ["hash", { serverCertificateHashes: [new Uint8Array(3)] }],
    ["fallback", { fallback: "https://example.org" }],
  ])("%s", (name, options) => {
    expect(() => driverOptions("https://example.org", options)).toThrow(name);
  });
});
