import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import {
  type Cell,
  MAX_SHEET_COLUMNS,
  MAX_SHEET_ROWS,
  mustBeSmall,
  parseRange,
  placeValues,
  type Range,
} from "../domain/data/a1-range.ts";
import {
  deleteCells,
  emptyCells,
  findCells,
  lockSheet,
  measureSheet,
  type PlacedCell,
  type SheetPlace,
  sheetExists,
  writeCells,
} from "../store/sheets.ts";
import { ToolError } from "./run-scope.ts";

/** Tables of cells that a workspace's tools read and write. Every method rejects with a ToolError for the tool. */
export interface Sheets {
  /** Rows of cells of a range; without one, from A1 to the last filled row and column. */
  read(place: SheetPlace, range: string | undefined): Promise<Cell[][]>;
  /** Writes rows from the range's first cell on; null empties a cell. Makes the sheet when it is missing. */
  write(place: SheetPlace, range: string, values: unknown): Promise<{ range: Range; cells: number }>;
  /** Empties a range, or all of the sheet. Returns how many cells were filled. */
  clear(place: SheetPlace, range: string | undefined): Promise<number>;
}

const MAX_SHEETS_PER_WORKSPACE = 100;
const MAX_CELLS_PER_SHEET = 100_000;
const MAX_NAME_CHARS = 100;
const WHOLE_SHEET: Range = { top: 1, left: 1, bottom: MAX_SHEET_ROWS, right: MAX_SHEET_COLUMNS };

export function createSheets(pool: Pool): Sheets {
  return {
    async read(place, range) {
      await mustExist(pool, place);
      if (range !== undefined) return matrix(await findCells(pool, place, inRange(range)), inRange(range));
      const { bottom, right } = await measureSheet(pool, place);
      if (bottom === 0) return [];
      const filled = refusing(() => mustBeSmall({ top: 1, left: 1, bottom, right }));
      return matrix(await findCells(pool, place, filled), filled);
    },
    async write(place, range, values) {
      const placed = placedCells(place, range, values);
      await inTransaction(pool, async (client) => {
        const sheets = await lockSheet(client, place);
        if (sheets > MAX_SHEETS_PER_WORKSPACE) {
          throw new ToolError("TOO_MANY_SHEETS", `a workspace has at most ${MAX_SHEETS_PER_WORKSPACE} sheets`);
        }
        await emptyCells(client, place, placed.emptied);
        await writeCells(client, place, placed.filled);
        const { cells } = await measureSheet(client, place);
        if (cells > MAX_CELLS_PER_SHEET) {
          throw new ToolError("SHEET_FULL", `a sheet holds at most ${MAX_CELLS_PER_SHEET} filled cells`);
        }
      });
      return { range: placed.range, cells: placed.count };
    },
    async clear(place, range) {
      await mustExist(pool, place);
      return deleteCells(pool, place, range === undefined ? WHOLE_SHEET : inRange(range));
    },
  };
}

/** What a write would put where. Throws a ToolError for what cannot be written. */
export function placedCells(place: SheetPlace, range: string, values: unknown) {
  const { sheet } = place;
  if (sheet === "" || sheet.length > MAX_NAME_CHARS || /\p{Cc}/u.test(sheet) || !sheet.isWellFormed()) {
    throw new ToolError("INVALID_ARGUMENT", `a sheet's name has 1 to ${MAX_NAME_CHARS} characters`);
  }
  const placed = refusing(() => placeValues(parseRange(range), values));
  const { top, left } = placed.range;
  const cells = placed.rows.flatMap((row, down) =>
    row.map((value, along): PlacedCell => ({ row: top + down, column: left + along, value })),
  );
  return {
    range: placed.range,
    count: cells.length,
    filled: cells.filter(({ value }) => value !== null),
    emptied: cells.filter(({ value }) => value === null),
  };
}

function inRange(text: string): Range {
  return refusing(() => parseRange(text));
}

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new ToolError("INVALID_ARGUMENT", error.message);
    throw error;
  }
}

async function mustExist(pool: Pool, place: SheetPlace): Promise<void> {
  if (!(await sheetExists(pool, place))) throw new ToolError("NO_SUCH_SHEET", "there is no sheet of this name");
}

function matrix(cells: PlacedCell[], { top, left, bottom, right }: Range): Cell[][] {
  const rows = Array.from({ length: bottom - top + 1 }, () => new Array<Cell>(right - left + 1).fill(null));
  for (const { row, column, value } of cells) {
    const cellsOfRow = rows[row - top];
    if (cellsOfRow) cellsOfRow[column - left] = value;
  }
  return rows;
}
