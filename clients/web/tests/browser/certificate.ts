// Certificates that browsers accept by their hash, made by openssl.

import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A certificate on P-256 for 13 days, in this folder, and its hash; `undefined` without openssl. */
export function certificate(folder: string): string | undefined {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const request = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-days",
    "13",
  ];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  try {
    execFileSync("openssl", [...request, ...names, "-keyout", key, "-out", cert], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  return new X509Certificate(readFileSync(cert)).fingerprint256.replaceAll(":", "").toLowerCase();
}
