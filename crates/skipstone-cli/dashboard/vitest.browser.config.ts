import { defineConfig } from "vitest/config";

// A browser and a server are driven: one after the other, and with patience.
export default defineConfig({
  test: {
    include: ["tests/browser/*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
