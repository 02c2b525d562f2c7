// The page of `skipstone stress --mix browser=…`, one script.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    emptyOutDir: false,
    lib: { entry: "stress/main.ts", formats: ["es"], fileName: "stress" },
  },
});
