import { type CurrentRows, type CurrentRowsOptions, createCurrentRows } from "@toolgate/epoch/current-rows";
import { isInNetworks, type Network, parseNetwork } from "@toolgate/ip-address/network";
import { isSecretValid, statusOf } from "../domain/key.ts";
import type { VerificationRow } from "../store/verification.ts";

/** A key's row with its networks parsed. */
interface VerifiableKey extends VerificationRow {
  id: string;
  networks: Network[];
}

export type VerifiableKeys = CurrentRows<VerifiableKey>;

type Dependencies = Pick<
  CurrentRowsOptions<VerificationRow, VerifiableKey>,
  "find" | "counter" | "redis" | "now" | "onRedisError"
>;

const MAX_CACHED_BYTES = 128 * 1024 * 1024;
/** Memory for an entry of a list without its characters. */
const TEXT_BYTES = 32;
const BYTES_PER_CHAR = 2;

/** [KEY-21] Keys by the hash of their secret. */
export function createVerifiableKeys(dependencies: Dependencies): VerifiableKeys {
  return createCurrentRows<VerificationRow, VerifiableKey>({
    name: "keys",
    maxBytes: MAX_CACHED_BYTES,
    ...dependencies,
    read: (row) => ({ ...row, id: row.keyId, networks: networksOf(row) }),
    sizeOf: (key) => (key ? sizeOf(key) : 0),
  });
}

/** Throws for a network that cannot be parsed: a key without networks may be used from anywhere. */
function networksOf({ keyId, allowedNetworks }: VerificationRow): Network[] {
  return allowedNetworks.map((text) => {
    const network = parseNetwork(text);
    if ("fault" in network) throw new Error(`key ${keyId} has a network that cannot be read`);
    return network;
  });
}

/** Whether the key, the secret and the caller's address are all valid. */
export function isUsable(key: VerifiableKey, clientIp: string, now: Date): boolean {
  const mayCallFrom = key.networks.length === 0 || isInNetworks(key.networks, clientIp);
  return statusOf(key, now) === "active" && isSecretValid(key, now) && mayCallFrom;
}

/** What its lists take in memory. */
function sizeOf({ tools, allowedNetworks }: VerifiableKey): number {
  let bytes = 0;
  for (const text of [...tools, ...allowedNetworks]) bytes += TEXT_BYTES + BYTES_PER_CHAR * text.length;
  return bytes;
}
