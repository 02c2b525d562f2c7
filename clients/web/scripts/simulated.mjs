// Builds the protocol's tests as WebAssembly, to which the tests of this package connect.
import { copyFileSync, mkdirSync } from "node:fs";
import { WASM, run, targetFolder, withVectors } from "./cargo.mjs";

const args = ["build", "--package", "skipstone-web", "--example", "simulated", "--target", WASM];
run(args, { env: withVectors() });
const generated = new URL("../src/generated/", import.meta.url);
mkdirSync(generated, { recursive: true });
copyFileSync(`${targetFolder()}/${WASM}/debug/examples/simulated.wasm`, new URL("simulated.wasm", generated));
