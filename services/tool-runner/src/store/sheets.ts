import type { Client, Queryable } from "@toolgate/postgres/pool";
import type { Range } from "../domain/data/a1-range.ts";
import { allRows, changesRow, firstRow } from "./rows.ts";

/** Where the first value of a write goes. */
type Start = Pick<Range, "top" | "left">;

export interface SheetRef {
  workspaceId: string;
  sheet: string;
}

const IN_RANGE = `workspace_id = $1 and sheet = $2 and row_number between $3 and $5 and column_number between $4 and $6`;
/** The cells of $3, rows of values as JSON, of which the first is in row $4 and column $5. */
const PLACED_CELLS = `
  select ($4 + down - 1)::integer as row_number, ($5 + along - 1)::integer as column_number, value
  from jsonb_array_elements($3) with ordinality as rows_of_cells (cells, down),
    jsonb_array_elements(cells) with ordinality as cells_of_row (value, along)`;

export async function listSheets(db: Queryable, workspaceId: string): Promise<string[]> {
  const select = "select name from tool_runner.sheets where workspace_id = $1 order by name";
  return (await allRows<{ name: string }>(db, select, [workspaceId])).map(({ name }) => name);
}

export async function sheetExists(db: Queryable, { workspaceId, sheet }: SheetRef): Promise<boolean> {
  const select = "select 1 from tool_runner.sheets where workspace_id = $1 and name = $2";
  return (await firstRow(db, select, [workspaceId, sheet])) !== undefined;
}

/** Creates a missing sheet, and locks it. Returns how many sheets the workspace has. */
export async function lockSheet(client: Client, { workspaceId, sheet }: SheetRef): Promise<number> {
  const insert = "insert into tool_runner.sheets (workspace_id, name) values ($1, $2) on conflict do nothing";
  await client.query(insert, [workspaceId, sheet]);
  const lock = "select 1 from tool_runner.sheets where workspace_id = $1 and name = $2 for update";
  await client.query(lock, [workspaceId, sheet]);
  const count = "select count(*) as sheets from tool_runner.sheets where workspace_id = $1";
  return (await client.query(count, [workspaceId])).rows[0].sheets;
}

/** Writes rows of values, as JSON, from a cell on, except those that are null or already there. */
export async function writeCells(db: Queryable, ref: SheetRef, start: Start, rowsJson: string): Promise<void> {
  await db.query(
    `insert into tool_runner.sheet_cells as old (workspace_id, sheet, row_number, column_number, value)
     select $1, $2, row_number, column_number, value from (${PLACED_CELLS}) as placed where value <> 'null'
     on conflict (workspace_id, sheet, row_number, column_number) do update set value = excluded.value
       where old.value <> excluded.value`,
    parametersOfWrite(ref, start, rowsJson),
  );
}

/** Empties the cells of rows of values, as JSON, that are null. */
export async function emptyCells(db: Queryable, ref: SheetRef, start: Start, rowsJson: string): Promise<void> {
  await db.query(
    `delete from tool_runner.sheet_cells as old using (${PLACED_CELLS}) as placed
     where workspace_id = $1 and sheet = $2 and placed.value = 'null'
       and old.row_number = placed.row_number and old.column_number = placed.column_number`,
    parametersOfWrite(ref, start, rowsJson),
  );
}

/** Returns how many filled cells there were. */
export async function deleteCells(db: Queryable, ref: SheetRef, range: Range): Promise<number> {
  const deleted = await db.query(`delete from tool_runner.sheet_cells where ${IN_RANGE}`, parametersOf(ref, range));
  return deleted.rowCount ?? 0;
}

/** How many cells of the range are filled. */
export async function countCells(db: Queryable, ref: SheetRef, range: Range): Promise<number> {
  const select = `select count(*) as cells from tool_runner.sheet_cells where ${IN_RANGE}`;
  return (await firstRow<{ cells: number }>(db, select, parametersOf(ref, range)))?.cells ?? 0;
}

/**
 * The rows of a range as JSON, null for empty cells; undefined if the values take more than `maxBytes`. The database makes
 * the text: thousands of rows of cells would keep this process from everything else.
 */
export async function findRows(
  db: Queryable,
  ref: SheetRef,
  range: Range,
  maxBytes: number,
): Promise<string | undefined> {
  const found = await firstRow<{ rows: string | null }>(
    db,
    `with found as (select row_number, column_number, value from tool_runner.sheet_cells where ${IN_RANGE}),
       whole_rows as (
         select row_number, json_agg(value order by column_number) as cells
         from generate_series($3::integer, $5) as row_number cross join generate_series($4::integer, $6) as column_number
           left join found using (row_number, column_number)
         group by row_number)
     select case when (select coalesce(sum(octet_length(value::text)), 0) from found) <= $7
       then (select json_agg(cells order by row_number) from whole_rows)::text end as rows`,
    [...parametersOf(ref, range), maxBytes],
  );
  return found?.rows ?? undefined;
}

/** How many cells are filled, and the last row and the last column with a filled one. */
export async function measureSheet(
  db: Queryable,
  { workspaceId, sheet }: SheetRef,
): Promise<{ cells: number; bottom: number; right: number }> {
  const measured = await db.query(
    `select count(*) as cells, coalesce(max(row_number), 0) as bottom, coalesce(max(column_number), 0) as right
     from tool_runner.sheet_cells where workspace_id = $1 and sheet = $2`,
    [workspaceId, sheet],
  );
  return measured.rows[0];
}

export function deleteSheet(db: Queryable, { workspaceId, sheet }: SheetRef): Promise<boolean> {
  const deletion = "delete from tool_runner.sheets where workspace_id = $1 and name = $2";
  return changesRow(db, deletion, [workspaceId, sheet]);
}

function parametersOf({ workspaceId, sheet }: SheetRef, { top, left, bottom, right }: Range): unknown[] {
  return [workspaceId, sheet, top, left, bottom, right];
}

function parametersOfWrite({ workspaceId, sheet }: SheetRef, { top, left }: Start, rowsJson: string): unknown[] {
  return [workspaceId, sheet, rowsJson, top, left];
}
