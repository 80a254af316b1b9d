import { isInNetworks, type Network, parseNetwork } from "@toolgate/ip-address/network";
import { secretHolds, statusOf } from "../domain/key.ts";
import type { VerificationRow } from "../store/verification.ts";

/** A key's row with its networks parsed. */
export interface VerifiableKey {
  row: VerificationRow;
  networks: Network[];
}

/** A key without its lists. */
const KEY_BYTES = 500;
/** An entry of a list, without its characters. */
const TEXT_BYTES = 32;
const BYTES_PER_CHAR = 2;

/** Throws for a network that cannot be parsed: a key without networks may be used from anywhere. */
export function toVerifiableKey(row: VerificationRow): VerifiableKey {
  const networks = row.allowedNetworks.map((text) => {
    const network = parseNetwork(text);
    if ("fault" in network) throw new Error(`key ${row.keyId} has a network that cannot be read`);
    return network;
  });
  return { row, networks };
}

/** Whether the key, the secret and the caller's address are all valid. */
export function admits({ row, networks }: VerifiableKey, clientIp: string, nowMs: number): boolean {
  const now = new Date(nowMs);
  const mayCallFrom = networks.length === 0 || isInNetworks(networks, clientIp);
  return statusOf(row, now) === "active" && secretHolds(row, now) && mayCallFrom;
}

/** Bytes in memory, roughly. */
export function sizeOf({ row: { tools, allowedNetworks } }: VerifiableKey): number {
  let bytes = KEY_BYTES;
  for (const text of [...tools, ...allowedNetworks]) bytes += TEXT_BYTES + BYTES_PER_CHAR * text.length;
  return bytes;
}
