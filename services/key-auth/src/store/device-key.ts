import type { Queryable } from "@toolgate/postgres/pool";

export async function findDeviceKey(db: Queryable): Promise<Buffer | undefined> {
  const found = await db.query(`select sealed_key as "sealedKey" from key_auth.device_key`);
  return found.rows[0]?.sealedKey;
}

/** Stores the key, unless another replica has stored one instead of `previous` in the meantime. */
export async function storeDeviceKey(db: Queryable, sealedKey: Buffer, previous: Buffer | undefined): Promise<void> {
  await db.query(
    `insert into key_auth.device_key (sealed_key) values ($1)
     on conflict (only_row) do update set sealed_key = excluded.sealed_key where device_key.sealed_key = $2`,
    [sealedKey, previous ?? null],
  );
}
