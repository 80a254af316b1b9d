import { Code, ConnectError } from "@connectrpc/connect";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;
const MAX_TOKEN_CHARACTERS = 4_096;
const MAX_INT4 = 2_147_483_647;

/** The number of rows of a page: 1 to 100, 50 when the request names none. */
export function pageSize(requested: number): number {
  if (requested > MAX_PAGE_SIZE || requested < 0)
    throw new ConnectError(`page_size: must be from 1 to ${MAX_PAGE_SIZE}`, Code.InvalidArgument);
  return requested === 0 ? DEFAULT_PAGE_SIZE : requested;
}

/** What the rows of one page may take up, about. The clients of a list then get fewer rows than they asked for. */
export const MAX_PAGE_BYTES = 256 * 1024;
const FIRST_ROWS = 8;

interface PageReader<Row> {
  /** The most rows that the page may have. */
  size: number;
  /** Bytes or characters of a row, about. */
  sizeOf: (row: Row) => number;
  /** The next rows after one, or the first ones of the page. */
  read: (limit: number, after: Row | undefined) => Promise<Row[]>;
  maxBytes?: number;
}

/**
 * Reads the rows of a page: at most `size`, and no more than `maxBytes` unless the first row alone is larger. A few rows
 * are read first, which show how many more will fit. `last` is the row that the next page begins after, if there is one.
 */
export async function readPage<Row>(reader: PageReader<Row>): Promise<{ page: Row[]; last: Row | undefined }> {
  const { size, sizeOf, read, maxBytes = MAX_PAGE_BYTES } = reader;
  const page: Row[] = [];
  let bytes = 0;
  let limit = Math.min(FIRST_ROWS, size + 1);
  for (;;) {
    const rows = await read(limit, page.at(-1));
    for (const row of rows) {
      bytes += sizeOf(row);
      if (page.length === size || (page.length > 0 && bytes > maxBytes)) return { page, last: page.at(-1) };
      page.push(row);
    }
    if (rows.length < limit) return { page, last: undefined };
    const usual = Math.max(1, bytes / page.length);
    limit = Math.min(size + 1 - page.length, Math.ceil((maxBytes - bytes) / usual) + 1);
  }
}

/** A page token, opaque to callers: where the last row is in the order of the list. */
export function nextPageToken(cursor: Record<string, string>): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

/** The format of each member of a cursor; any other token is refused. */
export const CURSOR = {
  /** A timestamp as Postgres writes it, or an instant in ISO 8601. */
  time: /^(?!0000)\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d{1,6})?([+-](0\d|1[0-5])(:?[0-5]\d)?|Z)$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  name: /^[\w-]{1,64}$/,
  /** Postgres' type bigint. */
  number: /^\d{1,16}$/,
  /** Postgres' type integer. */
  int4: /^\d{1,10}$/,
} as const;

/** The cursor of a token; undefined for the first page. Fails with invalid_argument for any other text. */
export function parsePageToken<C extends Record<string, string>>(
  token: string,
  members: { readonly [Member in keyof C]: RegExp },
): C | undefined {
  if (token === "") return undefined;
  const refused = new ConnectError("page_token: not a token of this list", Code.InvalidArgument);
  if (token.length > MAX_TOKEN_CHARACTERS) throw refused;
  let cursor: unknown;
  try {
    cursor = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    throw refused;
  }
  if (typeof cursor !== "object" || cursor === null) throw refused;
  for (const [member, form] of Object.entries<RegExp>(members)) {
    const value = (cursor as Record<string, unknown>)[member];
    if (typeof value !== "string" || !form.test(value)) throw refused;
    if (form === CURSOR.time && !isTime(value)) throw refused;
    if (form === CURSOR.int4 && Number(value) > MAX_INT4) throw refused;
  }
  return cursor as C;
}

/** Whether a string of the form `CURSOR.time` is a day and a time of day that exist. */
function isTime(text: string): boolean {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  // Date moves a 30 February to March.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text.slice(0, 10)) return false;
  return !Number.isNaN(Date.parse(text.replace(" ", "T").replace(/([+-]\d{2})$/, "$1:00")));
}
