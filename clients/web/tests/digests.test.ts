// The protocol's simulated runs as WebAssembly keep their promises. `cargo xtask test` compares their digests with
// native ones.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("seeds of the swarm keep their promises, and each has a digest of its own", async () => {
  const file = readFileSync(new URL("../src/generated/simulated.wasm", import.meta.url));
  const { instance } = await WebAssembly.instantiate(file);
  const digest = instance.exports["digest"] as (seed: bigint) => bigint;
  const digests = Array.from({ length: 50 }, (_, seed) => digest(BigInt(seed)));
  expect(new Set(digests).size).toBe(50);
  expect(digest(7n)).toBe(digests[7]);
});
