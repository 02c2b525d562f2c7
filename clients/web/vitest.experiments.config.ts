// Measurements in real browsers, against a release build of the server. Not part of the tests.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/experiments/**/*.measure.ts"],
    testTimeout: 7_200_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
});
