// Calls cargo at the project's root.
import { execFileSync } from "node:child_process";

const root = new URL("../../../", import.meta.url).pathname;
const cargo = process.env.CARGO ?? "cargo";

export const WASM = "wasm32-unknown-unknown";

const VECTORS = "target-feature=+simd128";

/**
 * The environment for code with vectors, which browsers have had since Chrome 91, Firefox 89 and Safari 16.4: repairs
 * take a tenth of the time with them. A release brings flags of its own.
 */
export function withVectors() {
  const encoded = process.env.CARGO_ENCODED_RUSTFLAGS;
  return encoded === undefined
    ? { ...process.env, RUSTFLAGS: `-C ${VECTORS}` }
    : { ...process.env, CARGO_ENCODED_RUSTFLAGS: [encoded, "-C", VECTORS].join("\u001f") };
}

export function run(args, options = {}) {
  return execFileSync(cargo, args, { cwd: root, stdio: "inherit", ...options });
}

/** Where cargo builds. */
export function targetFolder() {
  const options = { stdio: ["ignore", "pipe", "inherit"] };
  return JSON.parse(run(["metadata", "--format-version", "1", "--no-deps"], options).toString())
    .target_directory;
}
