import type { Pool } from "@toolgate/postgres/pool";
import { visiblePrefix } from "@toolgate/rules/api-key-secret";
import { SERVICES } from "@toolgate/service-registry/services";

const { schema: SCHEMA } = SERVICES["key-auth"];

/** The tables that contain one of the secrets beyond its visible prefix: as text, in hex or in base64. */
export async function tablesContaining(pool: Pool, secrets: readonly string[]): Promise<string[]> {
  const hidden = secrets.map((secret) => Buffer.from(secret.slice(visiblePrefix(secret).length)));
  const pieces = hidden.flatMap((bytes) => [bytes.toString(), bytes.toString("hex"), bytes.toString("base64")]);
  const tables = await pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = $1",
    [SCHEMA],
  );
  const found: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await pool.query(`select t::text as row from ${SCHEMA}.${name} t`);
    if (rows.some(({ row }) => pieces.some((piece) => row.includes(piece)))) found.push(name);
  }
  return found;
}
