import type { Pool } from "@toolgate/postgres/pool";
import { SECRET_PREFIX, visiblePrefix } from "@toolgate/rules/api-key-secret";
import { SERVICES } from "@toolgate/service-registry/services";

const { schema: SCHEMA } = SERVICES["key-auth"];

/** Any piece of a secret as long as this counts as stored; nothing else is equal to it by chance. */
const PIECE_CHARACTERS = 12;
const CHECK_CHARACTERS = 6;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * The tables that contain a piece of a secret beyond its visible prefix: as text, or in hex or base64 this text or the
 * random bytes that it is made of.
 */
export async function tablesContaining(pool: Pool, secrets: readonly string[]): Promise<string[]> {
  const pieces = secrets.flatMap((secret) => {
    const hidden = secret.slice(visiblePrefix(secret).length);
    return [hidden, ...encodings(Buffer.from(hidden)), ...encodings(randomBytesOf(secret))].flatMap(piecesOf);
  });
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

/** In base64, a text looks in three ways, by where it begins in what is encoded. */
function encodings(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].flatMap((from) => {
    const rest = bytes.subarray(from);
    return [rest.toString("base64"), rest.toString("base64url")];
  });
  return [hex, hex.toUpperCase(), ...base64];
}

function piecesOf(text: string): string[] {
  const count = Math.max(0, text.length - PIECE_CHARACTERS + 1);
  return Array.from({ length: count }, (_, at) => text.slice(at, at + PIECE_CHARACTERS));
}

function randomBytesOf(secret: string): Buffer {
  const random = secret.slice(SECRET_PREFIX.length, -CHECK_CHARACTERS);
  const value = [...random].reduce((sum, digit) => sum * BigInt(ALPHABET.length) + BigInt(ALPHABET.indexOf(digit)), 0n);
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}
