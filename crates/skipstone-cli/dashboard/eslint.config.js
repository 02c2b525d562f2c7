import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig({ ignores: ["dist", "node_modules"] }, js.configs.recommended, {
  files: ["**/*.ts"],
  extends: [tseslint.configs.strictTypeChecked],
  languageOptions: { parserOptions: { projectService: true } },
  rules: {
    "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    // What came from the network is text.
    "no-restricted-properties": [
      "error",
      { property: "innerHTML", message: "Text is never HTML: use textContent." },
      { property: "outerHTML", message: "Text is never HTML: use textContent." },
      { property: "insertAdjacentHTML", message: "Text is never HTML: use append." },
    ],
  },
});
