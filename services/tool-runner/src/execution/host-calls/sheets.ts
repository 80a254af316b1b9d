import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { nameFault } from "@toolgate/rules/name";
import {
  MAX_SHEET_COLUMNS,
  MAX_SHEET_ROWS,
  mustBeSmall,
  parseRange,
  placeValues,
  type Range,
  rangeText,
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
import { optionalText, text } from "./arguments.ts";
import type { HostCallContext, HostDependencies } from "./host-call.ts";
import { skipsWrite } from "./skip-write.ts";

const MIB = 1024 * 1024;
const MAX_SHEETS_PER_WORKSPACE = 100;
const MAX_CELLS_PER_SHEET = 100_000;
const MAX_NAME_CHARS = 100;
/** A host call may return 8 MiB, of which what is between the cells takes a part. */
const MAX_BYTES_PER_READ = 7 * MIB;
const WHOLE_SHEET: Range = { top: 1, left: 1, bottom: MAX_SHEET_ROWS, right: MAX_SHEET_COLUMNS };

/** Returns JSON. */
export async function readSheet({ pool }: HostDependencies, [sheet, range]: unknown[], context: HostCallContext) {
  const rows = await readRows(pool, sheetOf(sheet, context), optionalText(range, "range"), MAX_BYTES_PER_READ);
  return `{"values":${rows}}`;
}

/**
 * The rows of a range as JSON; without a range, from A1 to the last row and column with a filled cell. The cells may take
 * `maxBytes`. Rejects with a ToolError.
 */
export async function readRows(
  pool: Pool,
  ref: SheetRef,
  rangeOf: string | undefined,
  maxBytes: number,
): Promise<string> {
  await mustExist(pool, ref);
  const range = rangeOf === undefined ? await filledRange(pool, ref) : validated(() => parseRange(rangeOf));
  if (range === undefined) return "[]";
  const rows = await findRows(pool, ref, range, maxBytes);
  if (rows !== undefined) return rows;
  throw new ToolError("RESULT_TOO_LARGE", `the cells take more than ${maxBytes / MIB} MiB: read a smaller range`);
}

/** [RO-5] Creates a missing sheet. Refused in a read-only run, with any arguments. */
export async function writeToSheet(
  { pool }: HostDependencies,
  [sheet, rangeFrom, values]: unknown[],
  context: HostCallContext,
) {
  if (context.scope.readOnly) throw new ToolError("READ_ONLY", "writing to a sheet is refused in a read-only run");
  const ref = sheetOf(sheet, context);
  const start = text(rangeFrom, "range");
  if (nameFault(ref.sheet, MAX_NAME_CHARS)) {
    const rule = `1 to ${MAX_NAME_CHARS} characters, none of them a control character`;
    throw new ToolError("INVALID_ARGUMENT", `the name of a sheet has ${rule}`);
  }
  const { range, rows } = validated(() => placeValues(parseRange(start), values));
  const cells = rows.reduce((sum, row) => sum + row.length, 0);
  const written = { success: true, range: rangeText(range), cells };
  if (skipsWrite(context, "writeToSheet", { sheet: ref.sheet, range: written.range, values })) return written;
  const json = JSON.stringify(rows);
  const emptiesCells = rows.some((row) => row.includes(null));
  await inTransaction(pool, async (client) => {
    const sheets = await lockSheet(client, ref);
    if (sheets > MAX_SHEETS_PER_WORKSPACE) {
      throw new ToolError("TOO_MANY_SHEETS", `a workspace has at most ${MAX_SHEETS_PER_WORKSPACE} sheets`);
    }
    if (emptiesCells) await emptyCells(client, ref, range, json);
    await writeCells(client, ref, range, json);
    if ((await measureSheet(client, ref)).cells > MAX_CELLS_PER_SHEET) {
      throw new ToolError("SHEET_FULL", `a sheet has at most ${MAX_CELLS_PER_SHEET} filled cells`);
    }
  });
  return written;
}

/** [RO-6] Empties a range, or the whole sheet. Refused in a read-only run, with any arguments. */
export async function clearFromSheet(
  { pool }: HostDependencies,
  [sheet, rangeOf]: unknown[],
  context: HostCallContext,
) {
  if (context.scope.readOnly) throw new ToolError("READ_ONLY", "clearing a sheet is refused in a read-only run");
  const ref = sheetOf(sheet, context);
  const cleared = optionalText(rangeOf, "range");
  const skipped = skipsWrite(context, "clearFromSheet", { sheet: ref.sheet, range: cleared ?? null });
  await mustExist(pool, ref);
  const range = cleared === undefined ? WHOLE_SHEET : validated(() => parseRange(cleared));
  return { success: true, cells: await (skipped ? countCells : deleteCells)(pool, ref, range) };
}

function sheetOf(name: unknown, { scope, entry }: HostCallContext): SheetRef {
  const sheet = text(name, "sheet");
  entry.target = sheet;
  return { workspaceId: scope.workspaceId, sheet };
}

async function mustExist(pool: Pool, ref: SheetRef): Promise<void> {
  if (!(await sheetExists(pool, ref))) throw new ToolError("NO_SUCH_SHEET", "there is no sheet of this name");
}

/** Undefined when no cell is filled. */
async function filledRange(pool: Pool, ref: SheetRef): Promise<Range | undefined> {
  const { bottom, right } = await measureSheet(pool, ref);
  return bottom === 0 ? undefined : validated(() => mustBeSmall({ top: 1, left: 1, bottom, right }));
}
