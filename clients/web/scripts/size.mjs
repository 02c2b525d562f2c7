// A page loads at most 185 KB gzipped.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const BYTES_MAX = 185 * 1_024;

const dist = new URL("../dist/", import.meta.url);
const sizes = ["skipstone.js", "worker.js"].map((name) => {
  const bytes = gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length;
  console.log(`${name}: ${(bytes / 1_024).toFixed(1)} KB gzipped`);
  return bytes;
});
const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
console.log(`${(total / 1_024).toFixed(1)} KB of ${BYTES_MAX / 1_024} KB`);
if (total > BYTES_MAX) {
  process.exitCode = 1;
}
