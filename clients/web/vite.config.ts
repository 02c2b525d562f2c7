// The package's one module: the API, with the worker and the protocol inside.
import { defineConfig } from "vitest/config";

export default defineConfig({
  build: {
    target: "es2022",
    emptyOutDir: false,
    lib: { entry: "src/index.ts", formats: ["es"], fileName: "skipstone" },
  },
  test: { include: ["tests/*.test.ts"] },
});
