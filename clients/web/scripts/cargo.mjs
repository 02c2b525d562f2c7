// Calls cargo at the project's root.
import { execFileSync } from "node:child_process";

const root = new URL("../../../", import.meta.url).pathname;
const cargo = process.env.CARGO ?? "cargo";

export const WASM = "wasm32-unknown-unknown";

/**
 * Vectors, which browsers have had since Chrome 91, Firefox 89 and Safari 16.4: repairs take a tenth of the time with
 * them.
 */
export const RUSTFLAGS = "-C target-feature=+simd128";

export function run(args, options = {}) {
  return execFileSync(cargo, args, { cwd: root, stdio: "inherit", ...options });
}

/** Where cargo builds. */
export function targetFolder() {
  const options = { stdio: ["ignore", "pipe", "inherit"] };
  return JSON.parse(run(["metadata", "--format-version", "1", "--no-deps"], options).toString())
    .target_directory;
}
