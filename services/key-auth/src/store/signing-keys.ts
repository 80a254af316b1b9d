import type { Queryable } from "@toolgate/postgres/pool";

export interface SigningKeyRow {
  kid: string;
  publicJwk: Record<string, unknown>;
  sealedPrivateKey: Buffer;
  createdAt: Date;
}

/** Newest first. */
export async function listSigningKeys(db: Queryable): Promise<SigningKeyRow[]> {
  const listed = await db.query({
    name: "list_signing_keys",
    text: `select kid, public_jwk as "publicJwk", sealed_private_key as "sealedPrivateKey", created_at as "createdAt"
     from key_auth.signing_keys order by created_at desc, kid`,
  });
  return listed.rows;
}

const SIGNING_KEYS_LOCK = 7_318_404;

/** Waits while another replica creates a key. The lock is held until the transaction ends. */
export async function lockSigningKeys(db: Queryable): Promise<void> {
  await db.query("select pg_advisory_xact_lock($1)", [SIGNING_KEYS_LOCK]);
}

export async function insertSigningKey(db: Queryable, key: SigningKeyRow): Promise<void> {
  await db.query(
    "insert into key_auth.signing_keys (kid, public_jwk, sealed_private_key, created_at) values ($1, $2, $3, $4)",
    [key.kid, JSON.stringify(key.publicJwk), key.sealedPrivateKey, key.createdAt],
  );
}

export async function deleteSigningKeysBefore(db: Queryable, before: Date): Promise<void> {
  await db.query("delete from key_auth.signing_keys where created_at < $1", [before]);
}
