import { randomUUID } from "node:crypto";
import { type CacheSource, createEpochCache } from "@toolgate/epoch/cache";
import { inTransaction, type Pool, type Queryable } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { type CryptoKey, exportJWK, generateKeyPair, importJWK } from "jose";
import {
  deleteSigningKeysBefore,
  insertSigningKey,
  listSigningKeys,
  lockSigningKeys,
  type SigningKeyRow,
} from "../store/signing-keys.ts";

export const JWT_ALGORITHM = "EdDSA";

const DAY_MS = 86_400_000;
const SIGNS_FOR_MS = 30 * DAY_MS;
/** One day longer than it signs, for tokens that are still valid. */
const KEPT_FOR_MS = SIGNS_FOR_MS + DAY_MS;

/** Creates a signing key when one is due, and deletes keys whose tokens have all expired. Can be repeated on any replica. */
export async function maintainSigningKeys(pool: Pool, box: SecretBox, now: Date): Promise<void> {
  const [newest] = await listSigningKeys(pool);
  if (newest && isYoung(newest, now)) return;
  await inTransaction(pool, async (client) => {
    await lockSigningKeys(client);
    const [current] = await listSigningKeys(client);
    if (!current || !isYoung(current, now)) await insertSigningKey(client, await createKey(box, now));
    await deleteSigningKeysBefore(client, new Date(now.getTime() - KEPT_FOR_MS));
  });
}

function isYoung({ createdAt }: SigningKeyRow, now: Date): boolean {
  return now.getTime() - createdAt.getTime() < SIGNS_FOR_MS;
}

async function createKey(box: SecretBox, now: Date): Promise<SigningKeyRow> {
  const { publicKey, privateKey } = await generateKeyPair(JWT_ALGORITHM, { extractable: true });
  const kid = randomUUID();
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: JWT_ALGORITHM, use: "sig" };
  const sealedPrivateKey = box.seal(JSON.stringify(await exportJWK(privateKey)), sealingContext(kid));
  return { kid, publicJwk, sealedPrivateKey, createdAt: now };
}

/** A private key that signs. */
export interface Signer {
  kid: string;
  key: CryptoKey;
}

const MAX_CACHED_BYTES = 10_000;

/**
 * Returns the private key that signs now. It is read again after 30 s; while Postgres is down, the last one goes on signing,
 * for as long as API keys in memory are used.
 */
export function createSigner(db: Queryable, box: SecretBox, source: CacheSource): () => Promise<Signer> {
  const cache = createEpochCache<"always", Signer>({
    ...source,
    name: "signing keys",
    isCurrent: () => true,
    maxBytes: MAX_CACHED_BYTES,
    sizeOf: () => 0,
  });
  return () => cache.get("newest", "always", () => readNewest(db, box));
}

async function readNewest(db: Queryable, box: SecretBox): Promise<Signer> {
  const [newest] = await listSigningKeys(db);
  if (!newest) throw new Error("there is no signing key");
  const { kid, sealedPrivateKey } = newest;
  const jwk = JSON.parse(box.open(sealedPrivateKey, sealingContext(kid)));
  return { kid, key: (await importJWK(jwk, JWT_ALGORITHM)) as CryptoKey };
}

/** Binds a sealed private key to its row. */
export function sealingContext(kid: string): string {
  return `signing-key:${kid}`;
}
