import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { type SigningKey, signingKey } from "@toolgate/webhook-signing/signing-key";
import { LRUCache } from "lru-cache";
import { sealingContext } from "../domain/endpoint.ts";

/** An endpoint's key for signatures. Throws when its secret cannot be opened. */
export type OpenSigningKey = (endpoint: { endpointId: number; secret: Uint8Array }) => SigningKey;

const MAX_KEYS = 4_096;

/** Keeps the keys of the endpoints that have had deliveries last: to open a secret costs more than to sign with it. */
export function createSigningKeys(secretBox: Pick<SecretBox, "open">): OpenSigningKey {
  const kept = new LRUCache<number, { sealed: Uint8Array; key: SigningKey }>({ max: MAX_KEYS });
  return ({ endpointId, secret: sealed }) => {
    const known = kept.get(endpointId);
    if (known && Buffer.compare(known.sealed, sealed) === 0) return known.key;
    const key = signingKey(secretBox.open(sealed, sealingContext(endpointId)));
    kept.set(endpointId, { sealed: Uint8Array.from(sealed), key });
    return key;
  };
}
