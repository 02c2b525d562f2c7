// The licenses are at the root of the project; the package has copies.
import { copyFileSync } from "node:fs";

for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) {
  copyFileSync(new URL(`../../../${name}`, import.meta.url), new URL(`../${name}`, import.meta.url));
}
