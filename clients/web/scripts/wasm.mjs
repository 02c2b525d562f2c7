// Builds the protocol as WebAssembly and writes it, compressed, into a module of the package. Needs Rust with the target
// wasm32-unknown-unknown.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync, gzipSync } from "node:zlib";

const root = new URL("../../../", import.meta.url).pathname;
const target = "wasm32-unknown-unknown";
const cargo = process.env.CARGO ?? "cargo";

const run = (args, options = {}) => execFileSync(cargo, args, { cwd: root, stdio: "inherit", ...options });
run([
  ...["rustc", "--package", "skipstone-web", "--lib", "--crate-type", "cdylib", "--profile", "web", "--target", target],
  // The protocol needs little stack, and each client has a memory of its own.
  ...["--", "-C", "link-arg=-zstack-size=131072"],
]);
const metadata = run(["metadata", "--format-version", "1", "--no-deps"], { stdio: ["ignore", "pipe", "inherit"] });
const { target_directory: folder } = JSON.parse(metadata.toString());
const wasm = readFileSync(`${folder}/${target}/web/skipstone_web.wasm`);
const packed = deflateRawSync(wasm, { level: 9 }).toString("base64");

const generated = new URL("../src/generated/", import.meta.url);
mkdirSync(generated, { recursive: true });
writeFileSync(new URL("core.wasm", generated), wasm);
writeFileSync(
  new URL("core.ts", generated),
  `// Made by scripts/wasm.mjs: skipstone-web, deflated, in base64.\nexport const CORE_BYTES = ${wasm.length};\nexport const CORE =\n  "${packed}";\n`,
);
console.log(`core: ${wasm.length} bytes, ${gzipSync(wasm, { level: 9 }).length} gzipped`);
