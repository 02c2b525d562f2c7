import { execFileSync } from "node:child_process";

/** Why this machine has no lossy links, if it has none. */
export const missing = ((): string | undefined => {
  if (process.getuid?.() !== 0) {
    return "links with loss need Linux and its root";
  }
  try {
    execFileSync("ip", ["netns", "list"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "links with loss need the program ip (iproute2)";
  }
})();
