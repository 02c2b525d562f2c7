import { defineConfig } from "vite";

// Names without hashes: the server embeds these files by name.
export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        entryFileNames: "dashboard.js",
        assetFileNames: "dashboard[extname]",
      },
    },
  },
});
