import { nameFault } from "@toolgate/names/name";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import {
  type Cell,
  MAX_SHEET_COLUMNS,
  MAX_SHEET_ROWS,
  mustBeSmall,
  parseRange,
  placeValues,
  type Range,
} from "../../domain/data/a1-range.ts";
import {
  deleteCells,
  emptyCells,
  findCells,
  lockSheet,
  measureSheet,
  type PlacedCell,
  type SheetRef,
  sheetExists,
  writeCells,
} from "../../store/sheets.ts";
import { ToolError, validated } from "../errors.ts";

/** Tables of cells that a workspace's tools read and write. Every method rejects with a ToolError for the tool. */
export interface Sheets {
  /** The rows of a range; without one, from A1 to the last row and column with a filled cell. */
  read(ref: SheetRef, range: string | undefined): Promise<Cell[][]>;
  /** Creates a missing sheet. */
  write(ref: SheetRef, cells: Pick<PlacedCells, "filled" | "emptied">): Promise<void>;
  /** Empties a range, or the whole sheet. Returns how many cells were filled. */
  clear(ref: SheetRef, range: string | undefined): Promise<number>;
}

interface PlacedCells {
  range: Range;
  count: number;
  filled: PlacedCell[];
  emptied: PlacedCell[];
}

const MAX_SHEETS_PER_WORKSPACE = 100;
const MAX_CELLS_PER_SHEET = 100_000;
const MAX_NAME_CHARS = 100;
const WHOLE_SHEET: Range = { top: 1, left: 1, bottom: MAX_SHEET_ROWS, right: MAX_SHEET_COLUMNS };

export function createSheets(pool: Pool): Sheets {
  async function mustExist(ref: SheetRef): Promise<void> {
    if (!(await sheetExists(pool, ref))) throw new ToolError("NO_SUCH_SHEET", "there is no sheet of this name");
  }

  return {
    async read(ref, text) {
      await mustExist(ref);
      if (text !== undefined) {
        const range = validated(() => parseRange(text));
        return matrix(await findCells(pool, ref, range), range);
      }
      const { bottom, right } = await measureSheet(pool, ref);
      if (bottom === 0) return [];
      const range = validated(() => mustBeSmall({ top: 1, left: 1, bottom, right }));
      return matrix(await findCells(pool, ref, range), range);
    },
    async write(ref, { filled, emptied }) {
      await inTransaction(pool, async (client) => {
        const sheets = await lockSheet(client, ref);
        if (sheets > MAX_SHEETS_PER_WORKSPACE) {
          throw new ToolError("TOO_MANY_SHEETS", `a workspace has at most ${MAX_SHEETS_PER_WORKSPACE} sheets`);
        }
        await emptyCells(client, ref, emptied);
        await writeCells(client, ref, filled);
        const { cells } = await measureSheet(client, ref);
        if (cells > MAX_CELLS_PER_SHEET) {
          throw new ToolError("SHEET_FULL", `a sheet has at most ${MAX_CELLS_PER_SHEET} filled cells`);
        }
      });
    },
    async clear(ref, text) {
      await mustExist(ref);
      return deleteCells(pool, ref, text === undefined ? WHOLE_SHEET : validated(() => parseRange(text)));
    },
  };
}

/** Where a write puts its values: from the range's first cell on; null empties a cell. Throws a ToolError. */
export function placeCells({ sheet }: SheetRef, rangeText: string, values: unknown): PlacedCells {
  if (nameFault(sheet, MAX_NAME_CHARS)) {
    const rule = `1 to ${MAX_NAME_CHARS} characters, none of them a control character`;
    throw new ToolError("INVALID_ARGUMENT", `the name of a sheet has ${rule}`);
  }
  const { range, rows } = validated(() => placeValues(parseRange(rangeText), values));
  const cells = rows.flatMap((values, down) =>
    values.map((value, along): PlacedCell => ({ row: range.top + down, column: range.left + along, value })),
  );
  return {
    range,
    count: cells.length,
    filled: cells.filter(({ value }) => value !== null),
    emptied: cells.filter(({ value }) => value === null),
  };
}

function matrix(cells: PlacedCell[], { top, left, bottom, right }: Range): Cell[][] {
  const rows = Array.from({ length: bottom - top + 1 }, () => new Array<Cell>(right - left + 1).fill(null));
  for (const { row, column, value } of cells) {
    const cellsOfRow = rows[row - top];
    if (cellsOfRow) cellsOfRow[column - left] = value;
  }
  return rows;
}
