// The check of a release: a page built in a project that has nothing but the package, in real browsers.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/release/**/*.release.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
