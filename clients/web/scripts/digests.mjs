// Prints the digests of the protocol's simulated runs, played as WebAssembly: node scripts/digests.mjs MODULE FROM END
import { readFileSync } from "node:fs";

const [module, from, end] = process.argv.slice(2);
let { exports } = await WebAssembly.instantiate(readFileSync(module)).then(({ instance }) => instance);
for (let seed = BigInt(from); seed < BigInt(end); seed += 1n) {
  const digest = BigInt.asUintN(64, exports.digest(seed));
  console.log(`digest ${seed} ${digest.toString(16).padStart(16, "0")}`);
}
