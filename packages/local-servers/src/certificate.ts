import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generate } from "selfsigned";
import { loadJson, saveJson } from "./saved-json.ts";

const VALID_MS = 3_650 * 24 * 3_600 * 1_000;
const CLOCK_SKEW_MS = 24 * 3_600 * 1_000;

/** For an HTTPS server on loopback, as PEM: its certificate and key, and what clients have to trust. */
export type LoopbackCertificate = { readonly key: string; readonly cert: string; readonly ca: string };

/** Makes a self-signed certificate for localhost, 127.0.0.1 and ::1; valid for ten years. */
export async function makeLoopbackCertificate(now: Date): Promise<LoopbackCertificate> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    algorithm: "sha256",
    notBeforeDate: new Date(now.getTime() - CLOCK_SKEW_MS),
    notAfterDate: new Date(now.getTime() + VALID_MS),
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
          { type: 7, ip: "::1" },
        ],
      },
    ],
  });
  return { key, cert, ca: cert };
}

/** The certificate kept in `folder`, made at the first call; clients have to trust what is in `ca.pem` there. */
export async function keptCertificate(folder: string, now: Date): Promise<LoopbackCertificate> {
  const file = join(folder, "certificate.json");
  const kept = await loadJson<LoopbackCertificate>(file);
  if (kept) return kept;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const certificate = await makeLoopbackCertificate(now);
  await writeFile(join(folder, "ca.pem"), `${certificate.ca.trimEnd()}\n`);
  await saveJson(file, certificate);
  return certificate;
}
