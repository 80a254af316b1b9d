import type { Queryable } from "@toolgate/postgres/pool";

/** Few enough for the time limit of a statement on a slow disk. */
const ROWS_PER_DELETE = 10_000;

/** Repeats a statement, which deletes up to `$2` rows from before `$1`, until it has found fewer than that. */
export async function deleteInBatches(
  db: Queryable,
  text: string,
  before: Date,
  rowsPerDelete = ROWS_PER_DELETE,
): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(text, [before, rowsPerDelete]);
    if ((rowCount ?? 0) < rowsPerDelete) return;
  }
}
