import { rangeText } from "../domain/data/a1-range.ts";
import { optionalText, text } from "./host-arguments.ts";
import type { HostCallEntry } from "./host-call-log.ts";
import { type RunScope, ToolError } from "./run-scope.ts";
import { placedCells, type Sheets } from "./sheets.ts";
import { withheld } from "./withheld.ts";

interface Place {
  tool: string;
  scope: RunScope;
  entry: HostCallEntry;
}

export async function readSheet(sheets: Sheets, [sheet, range]: unknown[], { scope, entry }: Place) {
  const place = { workspaceId: scope.workspaceId, sheet: text(sheet, "sheet") };
  entry.target = place.sheet;
  return { values: await sheets.read(place, optionalText(range, "range")) };
}

/** [RO-5] Refused in a read-only run, before anything else is looked at. */
export async function writeToSheet(sheets: Sheets, [sheet, range, values]: unknown[], { tool, scope, entry }: Place) {
  if (scope.readOnly) throw new ToolError("READ_ONLY", "writing to a sheet is refused in a read-only run");
  const place = { workspaceId: scope.workspaceId, sheet: text(sheet, "sheet") };
  entry.target = place.sheet;
  const placed = placedCells(place, text(range, "range"), values);
  const written = { success: true, range: rangeText(placed.range), cells: placed.count };
  const detail = { sheet: place.sheet, range: written.range, values };
  if (withheld(scope, { tool, name: "writeToSheet", detail })) {
    entry.recorded = scope.dryRun !== undefined;
    return written;
  }
  await sheets.write(place, text(range, "range"), values);
  return written;
}

/** [RO-6] Refused in a read-only run, before anything else is looked at. */
export async function clearFromSheet(sheets: Sheets, [sheet, range]: unknown[], { tool, scope, entry }: Place) {
  if (scope.readOnly) throw new ToolError("READ_ONLY", "clearing a sheet is refused in a read-only run");
  const place = { workspaceId: scope.workspaceId, sheet: text(sheet, "sheet") };
  entry.target = place.sheet;
  const cleared = optionalText(range, "range");
  const detail = { sheet: place.sheet, range: cleared ?? null };
  if (withheld(scope, { tool, name: "clearFromSheet", detail })) {
    entry.recorded = scope.dryRun !== undefined;
    const filled = (await sheets.read(place, cleared)).flat().filter((value) => value !== null);
    return { success: true, cells: filled.length };
  }
  return { success: true, cells: await sheets.clear(place, cleared) };
}
