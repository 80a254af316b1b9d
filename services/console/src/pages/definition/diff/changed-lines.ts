import { structuredPatch } from "diff";

/** A line of a comparison, or how many unchanged ones are left out. */
export type ComparedLine = { sign: "+" | "-" | " "; text: string } | { sign: "…"; lines: number };

const CONTEXT_LINES = 3;
/** Comparing texts that differ in more lines would take too long: one is shown as replaced by the other. */
const MAX_CHANGED_LINES = 1_000;

/** What changes from one text to the other, with the lines around each change; nothing for equal texts. */
export function changedLines(before: readonly string[], after: readonly string[]): ComparedLine[] {
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_CHANGED_LINES };
  const patch = structuredPatch("", "", joined(before), joined(after), "", "", options);
  if (!patch) return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)].map(signed);
  const compared: ComparedLine[] = [];
  let next = 1;
  const skipTo = (line: number) => line > next && compared.push({ sign: "…", lines: line - next });
  for (const { oldStart, oldLines, lines } of patch.hunks) {
    skipTo(oldStart);
    compared.push(...lines.map(signed));
    next = oldStart + oldLines;
  }
  if (patch.hunks.length > 0) skipTo(before.length + 1);
  return compared;
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** A line of a patch begins with its sign. */
function signed(line: string): ComparedLine {
  const [sign] = line;
  return { sign: sign === "+" || sign === "-" ? sign : " ", text: line.slice(1) };
}
