import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What the services of one installation share and nobody else may know. */
type InstallationSecrets = {
  readonly internalToken: string;
  /** As SEALING_KEYS is written: version:base64. */
  readonly sealingKeys: string;
};

const SECRET_BYTES = 32;

/** The secrets of a data folder, made at the first start; only its owner may read the file. */
export async function installationSecrets(dataDir: string): Promise<InstallationSecrets> {
  const file = join(dataDir, "secrets.json");
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (kept !== undefined) return JSON.parse(kept) as InstallationSecrets;
  const secrets = {
    internalToken: randomBytes(SECRET_BYTES).toString("base64url"),
    sealingKeys: `1:${randomBytes(SECRET_BYTES).toString("base64")}`,
  };
  await writeFile(`${file}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return secrets;
}
