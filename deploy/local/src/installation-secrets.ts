import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { loadJson, saveJson } from "@toolgate/local-servers/saved-json";

/** The secrets that the services of one installation share. */
type InstallationSecrets = {
  readonly internalToken: string;
  /** In the form of SEALING_KEYS: version:base64. */
  readonly sealingKeys: string;
};

const SECRET_BYTES = 32;

/** The secrets of a data folder, made at the first start. */
export async function installationSecrets(dataDir: string): Promise<InstallationSecrets> {
  const file = join(dataDir, "secrets.json");
  const kept = await loadJson<InstallationSecrets>(file);
  if (kept) return kept;
  const secrets = {
    internalToken: randomBytes(SECRET_BYTES).toString("base64url"),
    sealingKeys: `1:${randomBytes(SECRET_BYTES).toString("base64")}`,
  };
  await saveJson(file, secrets);
  return secrets;
}
