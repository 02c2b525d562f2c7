// The pages of examples, which use the package's sources.
import { defineConfig } from "vite";

const path = (name: string): string => new URL(name, import.meta.url).pathname;

export default defineConfig({
  root: "examples",
  base: "./",
  resolve: { alias: { skipstone: path("src/index.ts") } },
  build: {
    target: "es2022",
    emptyOutDir: true,
    rolldownOptions: {
      input: ["index.html", "chat.html", "dots.html"].map((name) => path(`examples/${name}`)),
    },
  },
});
