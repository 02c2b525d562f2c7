// Requests to the application before each attempt.

import { hashOf } from "./choices";
import { reasonOf } from "./errors";
import type { ClientOptions, Token } from "./options";

/** What an attempt needs from the application. */
export interface Answer {
  token: Token;
  /** Hashes of certificates in addition to those that are known from the beginning. */
  hashes: readonly Uint8Array<ArrayBuffer>[];
}

/** Calls both functions of the application at once. Rejects with what is missing, and the reason. */
export type Ask = () => Promise<Answer>;

export function askOf({ token = "", serverCertificateHashes = [] }: ClientOptions): Ask {
  return async () => {
    const [given, hashes] = await Promise.all([
      had("token", async () => (typeof token === "function" ? token() : token)),
      had("certificate hash", async () =>
        typeof serverCertificateHashes === "function" ? (await serverCertificateHashes()).map(hashOf) : [],
      ),
    ]);
    return { token: given, hashes };
  };
}

async function had<T>(what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new Error(`there is no ${what}: ${reasonOf(error)}`, { cause: error });
  }
}
