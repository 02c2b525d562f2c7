// Builds the protocol as WebAssembly and writes it, compressed, into a module of the package. Needs Rust with the
// target wasm32-unknown-unknown.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync, gzipSync } from "node:zlib";
import { WASM, run, targetFolder, withVectors } from "./cargo.mjs";

const args = [
  ...[
    "rustc",
    "--package",
    "skipstone-web",
    "--lib",
    "--crate-type",
    "cdylib",
    "--profile",
    "web",
    "--target",
    WASM,
  ],
  // The protocol needs little stack, and each client has its own memory.
  ...["--", "-C", "link-arg=-zstack-size=131072"],
];
run(args, { env: withVectors() });
const wasm = readFileSync(`${targetFolder()}/${WASM}/web/skipstone_web.wasm`);
const packed = deflateRawSync(wasm, { level: 9 }).toString("base64");

const generated = new URL("../src/generated/", import.meta.url);
mkdirSync(generated, { recursive: true });
writeFileSync(
  new URL("core.ts", generated),
  `// Made by scripts/wasm.mjs: skipstone-web, deflated, in base64.
export const CORE_BYTES = ${wasm.length};
export const CORE: string =
  "${packed}";
`,
);
console.log(`core: ${wasm.length} bytes, ${gzipSync(wasm, { level: 9 }).length} gzipped`);
