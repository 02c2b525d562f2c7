// Requests to the server. Every one carries our own header, and the token where one is asked for.

import { headerOf } from "./token";
import { SseParser, type SseEvent } from "./sse";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const TOKEN_KEY = "skipstone-token";

/** The token lives as long as the tab. */
export function setToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await request(path, signal ? { signal } : {})).json()) as T;
}

/** Runs a command; returns what the server says. */
export async function command(path: string, order: object): Promise<string> {
  const response = await request(path, { method: "POST", body: JSON.stringify(order) });
  return ((await response.json()) as { done: string }).done;
}

/** Reads events until the connection ends. */
export async function stream(
  onOpen: () => void,
  onEvent: (event: SseEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await request("api/stream", { signal });
  onOpen();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new SseParser();
  for (;;) {
    const chunk = await reader?.read();
    if (!chunk || chunk.done) return;
    parser.push(chunk.value).forEach(onEvent);
  }
}

async function request(path: string, init: RequestInit): Promise<Response> {
  const headers: Record<string, string> = { "x-skipstone": "dashboard" };
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token) headers["authorization"] = headerOf(token);
  if (init.body) headers["content-type"] = "application/json";
  const response = await fetch(path, { ...init, headers, credentials: "omit" });
  if (!response.ok) throw new ApiError(response.status, await reason(response));
  return response;
}

async function reason(response: Response): Promise<string> {
  try {
    return ((await response.json()) as { error: string }).error;
  } catch {
    return `HTTP ${response.status}`;
  }
}
