import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { loadJson, saveJson } from "@toolgate/local-servers/saved-json";
import { newServiceKey, publicKeyOf } from "@toolgate/service-host/identity/service-keys";
import { CALLING_SERVICES, type ServiceName } from "@toolgate/service-registry/services";

/** The secrets of the services of one installation. */
type InstallationSecrets = {
  /** In the form of SEALING_KEYS: version:base64. */
  readonly sealingKeys: string;
  /** The SERVICE_KEY of each service. */
  readonly serviceKeys: Readonly<Record<ServiceName, string>>;
};

const SECRET_BYTES = 32;

/** The secrets of a data folder, made at the first start. */
export async function installationSecrets(dataDir: string): Promise<InstallationSecrets> {
  const file = join(dataDir, "secrets.json");
  const kept = (await loadJson<Partial<InstallationSecrets>>(file)) ?? {};
  const known: Partial<Record<ServiceName, string>> = kept.serviceKeys ?? {};
  if (kept.sealingKeys !== undefined && CALLING_SERVICES.every((name) => known[name] !== undefined))
    return kept as InstallationSecrets;
  const serviceKeys = Object.fromEntries(
    CALLING_SERVICES.map((name) => [name, known[name] ?? newServiceKey().serviceKey]),
  ) as Record<ServiceName, string>;
  const sealingKeys = kept.sealingKeys ?? `1:${randomBytes(SECRET_BYTES).toString("base64")}`;
  const secrets = { sealingKeys, serviceKeys };
  await saveJson(file, secrets);
  return secrets;
}

/** SERVICE_PUBLIC_KEYS for these keys. */
export function publicKeysOf(serviceKeys: InstallationSecrets["serviceKeys"]): string {
  return CALLING_SERVICES.map((name) => `${name}:${publicKeyOf(serviceKeys[name])}`).join(",");
}
