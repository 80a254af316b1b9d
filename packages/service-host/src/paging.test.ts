import { Code, ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CURSOR, nextPageToken, pageSize, parsePageToken, readPage } from "./paging.ts";

function codeOf(action: () => unknown): Code | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

test("a page has 50 rows unless the request says otherwise, and 100 at most", () => {
  expect([pageSize(0), pageSize(1), pageSize(100)]).toEqual([50, 1, 100]);
  for (const size of [101, 2 ** 32 - 1, -1]) expect(codeOf(() => pageSize(size))).toBe(Code.InvalidArgument);
});

const MEMBERS = { at: CURSOR.time, id: CURSOR.uuid };

test("a token returns the cursor that it was made from", () => {
  const texts = fc.record({
    at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
    id: fc.uuid(),
  });
  fc.assert(
    fc.property(texts, ({ at, id }) => {
      const cursor = { at: at.toISOString(), id };
      expect(parsePageToken(nextPageToken(cursor), MEMBERS)).toEqual(cursor);
    }),
  );
  for (const at of ["2026-11-21 04:05:06.123456+00", "2026-11-21 04:05:06+05:30", "2026-11-21 04:05:06.1-03"]) {
    expect(parsePageToken(nextPageToken({ at }), { at: CURSOR.time })).toEqual({ at });
  }
  expect(parsePageToken("", MEMBERS)).toBeUndefined();
});

test("anything but a token of the list is an invalid argument, never another error", () => {
  const forged = [
    { at: 1 },
    { at: null },
    {},
    [],
    null,
    5,
    "text",
    { at: "a\0b" },
    { at: "yesterday" },
    { at: "2026-13-41 00:00:00+00" },
    { at: "2026-01-01 25:00:00+00" },
    { at: "2026-02-30 00:00:00+00" },
    { at: "2025-02-29 00:00:00+00" },
    { at: "0000-01-01 00:00:00+00" },
    { at: "2026-01-01 00:00:00+16" },
  ].map((cursor) => Buffer.from(JSON.stringify(cursor)).toString("base64url"));
  for (const token of [...forged, "%%%", "x".repeat(5_000)])
    expect(codeOf(() => parsePageToken(token, { at: CURSOR.time }))).toBe(Code.InvalidArgument);
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (token) => {
      expect(codeOf(() => parsePageToken(token, { at: CURSOR.time }))).toBe(Code.InvalidArgument);
    }),
  );
});

/** Reads a whole list of rows of these sizes, page by page; a row is its place in the list. */
async function pagesOf(sizes: readonly number[], size: number, maxBytes: number) {
  const pages: number[][] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const first: number = from;
    const { page, last } = await readPage<number>({
      size,
      maxBytes,
      sizeOf: (row) => sizes[row] ?? 0,
      async read(limit, after) {
        const start = after === undefined ? first : after + 1;
        return sizes.map((_, row) => row).slice(start, start + limit);
      },
    });
    pages.push(page);
    from = last === undefined ? undefined : last + 1;
  }
  return pages;
}

test("the pages of a list are complete, and none has more rows or bytes than it may, except one large row", async () => {
  const lists = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(lists, fc.integer({ min: 1, max: 20 }), async (sizes, size) => {
      const pages = await pagesOf(sizes, size, 500);
      expect(pages.flat()).toEqual(sizes.map((_, row) => row));
      for (const page of pages) {
        expect(page.length).toBeLessThanOrEqual(size);
        const bytes = page.reduce((sum, row) => sum + (sizes[row] ?? 0), 0);
        if (page.length > 1) expect(bytes).toBeLessThanOrEqual(500);
      }
    }),
  );
});
