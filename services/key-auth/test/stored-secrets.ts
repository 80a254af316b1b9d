import type { Pool } from "@toolgate/postgres/pool";
import { SECRET_PREFIX, visiblePrefix } from "@toolgate/rules/api-key-secret";
import { SERVICES } from "@toolgate/service-registry/services";

const { schema: SCHEMA } = SERVICES["key-auth"];

/** Any piece of a secret as long as this counts as stored; nothing else is equal to it by chance. */
const PIECE_BYTES = 12;
const CHECK_CHARACTERS = 6;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TOKEN = /[A-Za-z0-9+/_-]{12,}/g;

/**
 * The columns, as table.column, that contain a piece of a secret beyond its visible prefix: raw, in hex or in base64.
 */
export async function columnsContaining(pool: Pool, secrets: readonly string[]): Promise<string[]> {
  const pieces = secrets.flatMap((secret) => [...piecesOf(hiddenText(secret)), ...piecesOf(randomBytesOf(secret))]);
  const tables = await pool.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = $1",
    [SCHEMA],
  );
  const found = new Set<string>();
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<Record<string, unknown>>(`select * from ${SCHEMA}.${name}`);
    for (const [column, cell] of rows.flatMap((row) => Object.entries(row))) {
      const views = viewsOf(cell);
      if (pieces.some((piece) => views.some((view) => view.includes(piece)))) found.add(`${name}.${column}`);
    }
  }
  return [...found];
}

function hiddenText(secret: string): Buffer {
  return Buffer.from(secret.slice(visiblePrefix(secret).length));
}

/** The random bytes that the text is made of. */
export function randomBytesOf(secret: string): Buffer {
  const random = secret.slice(SECRET_PREFIX.length, -CHECK_CHARACTERS);
  const value = [...random].reduce((sum, digit) => sum * BigInt(ALPHABET.length) + BigInt(ALPHABET.indexOf(digit)), 0n);
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}

function piecesOf(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length - PIECE_BYTES + 1 }, (_, at) => bytes.subarray(at, at + PIECE_BYTES));
}

/** What the bytes of a cell may mean. */
function viewsOf(cell: unknown): Buffer[] {
  const bytes = Buffer.isBuffer(cell) ? cell : Buffer.from(typeof cell === "string" ? cell : JSON.stringify(cell));
  const tokens = bytes.toString("latin1").match(TOKEN) ?? [];
  return [bytes, ...tokens.flatMap((token) => [Buffer.from(token, "hex"), Buffer.from(token, "base64")])];
}
