// The compiled module of the protocol: unpacked and compiled once for all clients of a page.

import { CORE } from "../generated/core";

let compiled: Promise<WebAssembly.Module> | undefined;

/** The module, compiled at the first call. */
export function coreModule(): Promise<WebAssembly.Module> {
  compiled ??= compile();
  return compiled;
}

async function compile(): Promise<WebAssembly.Module> {
  const packed = Uint8Array.from(atob(CORE), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}
