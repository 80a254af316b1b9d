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
import { DEFAULT_POOL_LIMITS } from "../../sandbox/limits.ts";
import {
  deleteCells,
  emptyCells,
  findRows,
  lockSheet,
  measureSheet,
  type SheetRef,
  sheetExists,
  writeCells,
} from "../../store/sheets.ts";
import { ToolError, validated } from "../errors.ts";

/** Tables of cells that a workspace's tools read and write. Every method rejects with a ToolError for the tool. */
export interface Sheets {
  /** The rows of a range as JSON; without one, from A1 to the last row and column with a filled cell. */
  read(ref: SheetRef, range: string | undefined): Promise<string>;
  /** Creates a missing sheet. */
  write(ref: SheetRef, values: PlacedValues): Promise<void>;
  /** Empties a range, or the whole sheet. Returns how many cells were filled. */
  clear(ref: SheetRef, range: string | undefined): Promise<number>;
}

interface PlacedValues {
  range: Range;
  /** Rows of values from the range's first cell on; null empties a cell. */
  rows: Cell[][];
}

const MAX_SHEETS_PER_WORKSPACE = 100;
const MAX_CELLS_PER_SHEET = 100_000;
const MAX_NAME_CHARS = 100;
/** As much as a host call may return. */
const MAX_BYTES_PER_READ = DEFAULT_POOL_LIMITS.hostResultBytes;
const WHOLE_SHEET: Range = { top: 1, left: 1, bottom: MAX_SHEET_ROWS, right: MAX_SHEET_COLUMNS };

export function createSheets(pool: Pool): Sheets {
  async function mustExist(ref: SheetRef): Promise<void> {
    if (!(await sheetExists(pool, ref))) throw new ToolError("NO_SUCH_SHEET", "there is no sheet of this name");
  }

  async function rowsOf(ref: SheetRef, range: Range): Promise<string> {
    const rows = await findRows(pool, ref, range, MAX_BYTES_PER_READ);
    if (rows !== undefined) return rows;
    throw new ToolError(
      "RESULT_TOO_LARGE",
      `the cells have more than ${MAX_BYTES_PER_READ} bytes: read a smaller range`,
    );
  }

  return {
    async read(ref, text) {
      await mustExist(ref);
      if (text !== undefined)
        return rowsOf(
          ref,
          validated(() => parseRange(text)),
        );
      const { bottom, right } = await measureSheet(pool, ref);
      if (bottom === 0) return "[]";
      return rowsOf(
        ref,
        validated(() => mustBeSmall({ top: 1, left: 1, bottom, right })),
      );
    },
    async write(ref, { range, rows }) {
      const json = JSON.stringify(rows);
      const emptiesCells = rows.some((row) => row.includes(null));
      await inTransaction(pool, async (client) => {
        const sheets = await lockSheet(client, ref);
        if (sheets > MAX_SHEETS_PER_WORKSPACE) {
          throw new ToolError("TOO_MANY_SHEETS", `a workspace has at most ${MAX_SHEETS_PER_WORKSPACE} sheets`);
        }
        if (emptiesCells) await emptyCells(client, ref, range, json);
        await writeCells(client, ref, range, json);
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

/** Where a write puts its values. Throws a ToolError. */
export function placeCells({ sheet }: SheetRef, rangeText: string, values: unknown): PlacedValues {
  if (nameFault(sheet, MAX_NAME_CHARS)) {
    const rule = `1 to ${MAX_NAME_CHARS} characters, none of them a control character`;
    throw new ToolError("INVALID_ARGUMENT", `the name of a sheet has ${rule}`);
  }
  return validated(() => placeValues(parseRange(rangeText), values));
}
