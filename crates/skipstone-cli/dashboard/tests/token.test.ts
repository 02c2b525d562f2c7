import { expect, test } from "vitest";
import { headerOf } from "../src/token";

test("a token in any script is one that a header can have: its UTF-8, a byte for each character", () => {
  for (const token of ["correct horse", "пароль", "合言葉", "clé 🔑"]) {
    const headers = new Headers({ authorization: headerOf(token) });
    const bytes = Uint8Array.from(headers.get("authorization") ?? "", (byte) => byte.charCodeAt(0));
    expect(new TextDecoder("utf-8", { fatal: true }).decode(bytes)).toBe(`Bearer ${token}`);
  }
});
