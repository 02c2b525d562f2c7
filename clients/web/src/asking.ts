// What the application is asked for before each attempt.

import { hashOf } from "./choices";
import { reasonOf } from "./errors";
import type { ClientOptions, Token } from "./options";

/** What an attempt needs of the application. */
export interface Answer {
  token: Token;
  /** Hashes of certificates beside those that are known from the beginning. */
  hashes: readonly Uint8Array<ArrayBuffer>[];
}

/** Asks the application; both functions run at once. Rejects with what is missing, and why. */
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
