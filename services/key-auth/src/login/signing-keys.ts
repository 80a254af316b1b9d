import { randomUUID } from "node:crypto";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
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

export interface Signer {
  kid: string;
  key: CryptoKey;
}

interface SignerOptions {
  /** Newest first. */
  signingKeys: () => Promise<SigningKeyRow[]>;
  box: SecretBox;
  now: () => number;
  onError: (error: unknown) => void;
}

const READ_EVERY_MS = 60_000;
/** As long as verified keys of callers are. */
const USED_UNREAD_FOR_MS = 600_000;

/** The private key that signs now, unsealed once. */
export interface Signers {
  /** Reads which one it is. */
  newest(): Promise<Signer>;
  /** For calls: reads once a minute, beside them, and uses the last one while Postgres is down. */
  recent(): Promise<Signer>;
}

export function createSigners({ signingKeys, box, now, onError }: SignerOptions): Signers {
  let last: { signer: Signer; readAtMs: number } | undefined;
  let triedAtMs = 0;
  let reading: Promise<Signer> | undefined;

  async function readNewest(nowMs: number): Promise<Signer> {
    const [newest] = await signingKeys();
    if (!newest) throw new Error("there is no signing key");
    const { kid, sealedPrivateKey } = newest;
    const known = last?.signer.kid === kid ? last.signer : undefined;
    const signer = known ?? { kid, key: await unsealed(box.open(sealedPrivateKey, sealingContext(kid))) };
    last = { signer, readAtMs: nowMs };
    return signer;
  }

  function read(nowMs: number): Promise<Signer> {
    triedAtMs = nowMs;
    reading ??= readNewest(nowMs).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    newest: () => readNewest(now()),
    async recent() {
      const nowMs = now();
      if (!last || Math.abs(nowMs - last.readAtMs) > USED_UNREAD_FOR_MS) return read(nowMs);
      if (Math.abs(nowMs - triedAtMs) > READ_EVERY_MS) read(nowMs).catch(onError);
      return last.signer;
    },
  };
}

async function unsealed(jwk: string): Promise<CryptoKey> {
  return (await importJWK(JSON.parse(jwk), JWT_ALGORITHM)) as CryptoKey;
}

/** Binds a sealed private key to its row. */
export function sealingContext(kid: string): string {
  return `signing-key:${kid}`;
}
