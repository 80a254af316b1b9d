import type { Client, Queryable } from "@toolgate/postgres/pool";
import type { Cell, Range } from "../domain/data/a1-range.ts";
import { allRows, changesRow, firstRow } from "./rows.ts";

export interface SheetRef {
  workspaceId: string;
  sheet: string;
}

export interface PlacedCell {
  row: number;
  column: number;
  value: Cell;
}

const IN_RANGE = `workspace_id = $1 and sheet = $2 and row_number between $3 and $5 and column_number between $4 and $6`;

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

/** The cells are one JSON text: to encode them as arrays would hold up everything else for several times as long. */
export async function writeCells(db: Queryable, { workspaceId, sheet }: SheetRef, cells: PlacedCell[]): Promise<void> {
  await db.query(
    `insert into tool_runner.sheet_cells (workspace_id, sheet, row_number, column_number, value)
     select $1, $2, "row", "column", value
       from json_to_recordset($3) as cells ("row" integer, "column" integer, value jsonb)
     on conflict (workspace_id, sheet, row_number, column_number) do update set value = excluded.value`,
    [workspaceId, sheet, JSON.stringify(cells)],
  );
}

export async function emptyCells(db: Queryable, { workspaceId, sheet }: SheetRef, cells: PlacedCell[]): Promise<void> {
  await db.query(
    `delete from tool_runner.sheet_cells using json_to_recordset($3) as emptied ("row" integer, "column" integer)
     where workspace_id = $1 and sheet = $2 and row_number = emptied."row" and column_number = emptied."column"`,
    [workspaceId, sheet, JSON.stringify(cells)],
  );
}

/** Returns how many filled cells there were. */
export async function deleteCells(db: Queryable, ref: SheetRef, range: Range): Promise<number> {
  const deleted = await db.query(`delete from tool_runner.sheet_cells where ${IN_RANGE}`, parametersOf(ref, range));
  return deleted.rowCount ?? 0;
}

/** The filled cells of the range. */
export function findCells(db: Queryable, ref: SheetRef, range: Range): Promise<PlacedCell[]> {
  const select = `select row_number as row, column_number as column, value from tool_runner.sheet_cells where ${IN_RANGE}`;
  return allRows(db, select, parametersOf(ref, range));
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
