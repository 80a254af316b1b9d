import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { nameFault } from "@toolgate/rules/name";
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
  countCells,
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
  /**
   * The rows of a range as JSON; without one, from A1 to the last row and column with a filled cell. `maxBytes`: how many
   * bytes the cells may take, by default as many as a tool may read.
   */
  read(ref: SheetRef, range: string | undefined, maxBytes?: number): Promise<string>;
  /** Creates a missing sheet. */
  write(ref: SheetRef, values: PlacedValues): Promise<void>;
  /** Empties a range, or the whole sheet. Returns how many cells were filled. */
  clear(ref: SheetRef, range: string | undefined): Promise<number>;
  /** How many cells of a range, or of the whole sheet, are filled. */
  count(ref: SheetRef, range: string | undefined): Promise<number>;
}

interface PlacedValues {
  range: Range;
  /** Rows of values from the range's first cell on; null empties a cell. */
  rows: Cell[][];
}

const MIB = 1024 * 1024;
const MAX_SHEETS_PER_WORKSPACE = 100;
const MAX_CELLS_PER_SHEET = 100_000;
const MAX_NAME_CHARS = 100;
/** A host call may return 8 MiB, of which what is between the cells takes a part. */
const MAX_BYTES_PER_READ = 7 * MIB;
const WHOLE_SHEET: Range = { top: 1, left: 1, bottom: MAX_SHEET_ROWS, right: MAX_SHEET_COLUMNS };

export function createSheets(pool: Pool): Sheets {
  async function mustExist(ref: SheetRef): Promise<void> {
    if (!(await sheetExists(pool, ref))) throw new ToolError("NO_SUCH_SHEET", "there is no sheet of this name");
  }

  /** Undefined when no cell is filled. */
  async function filledRange(ref: SheetRef): Promise<Range | undefined> {
    const { bottom, right } = await measureSheet(pool, ref);
    return bottom === 0 ? undefined : validated(() => mustBeSmall({ top: 1, left: 1, bottom, right }));
  }

  const rangeOf = (text: string | undefined) => (text === undefined ? WHOLE_SHEET : validated(() => parseRange(text)));

  return {
    async read(ref, text, maxBytes = MAX_BYTES_PER_READ) {
      await mustExist(ref);
      const range = text === undefined ? await filledRange(ref) : rangeOf(text);
      if (range === undefined) return "[]";
      const rows = await findRows(pool, ref, range, maxBytes);
      if (rows !== undefined) return rows;
      throw new ToolError("RESULT_TOO_LARGE", `the cells take more than ${maxBytes / MIB} MiB: read a smaller range`);
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
      return deleteCells(pool, ref, rangeOf(text));
    },
    async count(ref, text) {
      await mustExist(ref);
      return countCells(pool, ref, rangeOf(text));
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
