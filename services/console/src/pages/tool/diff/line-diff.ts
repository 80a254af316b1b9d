export interface DiffLine {
  sign: "+" | "-" | " ";
  text: string;
}

/** Above this many pairs of lines, what differs is shown as replaced as a whole. */
const MAX_PAIRS = 4_000_000;

/** The lines that lead from one text to the other: the longest common lines stay. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return [
    ...signed(" ", before.slice(0, start)),
    ...changed(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...signed(" ", before.slice(before.length - end)),
  ];
}

function signed(sign: DiffLine["sign"], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ sign, text }));
}

function changed(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1;
  if (before.length * after.length > MAX_PAIRS) return [...signed("-", before), ...signed("+", after)];
  // At [row, column]: how many lines the rests of both texts have in common.
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] as number;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, text] = [before[row], after[column]];
    if (old !== undefined && old === text) {
      lines.push({ sign: " ", text: old });
      row += 1;
      column += 1;
    } else if (old !== undefined && (text === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ sign: "-", text: old });
      row += 1;
    } else {
      lines.push({ sign: "+", text: text ?? "" });
      column += 1;
    }
  }
  return lines;
}

export interface Skipped {
  sign: "…";
  lines: number;
}

/** Leaves out what is more than `around` lines from a change. */
export function nearChanges(lines: readonly DiffLine[], around: number): (DiffLine | Skipped)[] {
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ sign }) => sign !== " ");
  const shown: (DiffLine | Skipped)[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isNear(index)) shown.push(line);
    else if (last?.sign === "…") last.lines += 1;
    else shown.push({ sign: "…", lines: 1 });
  }
  return shown;
}
