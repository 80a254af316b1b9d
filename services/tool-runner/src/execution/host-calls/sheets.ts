import { rangeText } from "../../domain/data/a1-range.ts";
import { ToolError } from "../errors.ts";
import { placeCells, type Sheets } from "../workspace/sheets.ts";
import { optionalText, text } from "./arguments.ts";
import type { HostCallContext } from "./host-call.ts";
import { skipsWrite } from "./skip-write.ts";

/** Returns JSON. */
export async function readSheet(sheets: Sheets, [sheet, range]: unknown[], context: HostCallContext): Promise<string> {
  return `{"values":${await sheets.read(sheetOf(sheet, context), optionalText(range, "range"))}}`;
}

/** [RO-5] Refused in a read-only run, with any arguments. */
export async function writeToSheet(sheets: Sheets, [sheet, range, values]: unknown[], context: HostCallContext) {
  if (context.scope.readOnly) throw new ToolError("READ_ONLY", "writing to a sheet is refused in a read-only run");
  const ref = sheetOf(sheet, context);
  const placed = placeCells(ref, text(range, "range"), values);
  const cells = placed.rows.reduce((sum, row) => sum + row.length, 0);
  const written = { success: true, range: rangeText(placed.range), cells };
  const skipped = skipsWrite(context, "writeToSheet", { sheet: ref.sheet, range: written.range, values });
  if (!skipped) await sheets.write(ref, placed);
  return written;
}

/** [RO-6] Refused in a read-only run, with any arguments. */
export async function clearFromSheet(sheets: Sheets, [sheet, range]: unknown[], context: HostCallContext) {
  if (context.scope.readOnly) throw new ToolError("READ_ONLY", "clearing a sheet is refused in a read-only run");
  const ref = sheetOf(sheet, context);
  const cleared = optionalText(range, "range");
  const skipped = skipsWrite(context, "clearFromSheet", { sheet: ref.sheet, range: cleared ?? null });
  return { success: true, cells: await (skipped ? sheets.count(ref, cleared) : sheets.clear(ref, cleared)) };
}

function sheetOf(name: unknown, { scope, entry }: HostCallContext) {
  const sheet = text(name, "sheet");
  entry.target = sheet;
  return { workspaceId: scope.workspaceId, sheet };
}
