// The worker as a separate file, for pages that allow no `blob:` worker.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    emptyOutDir: true,
    lib: { entry: "src/worker/main.ts", formats: ["es"], fileName: "worker" },
  },
});
