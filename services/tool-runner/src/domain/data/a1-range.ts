/** A rectangle of cells, corners included; rows and columns count from 1. */
export type Range = { top: number; left: number; bottom: number; right: number };

/** The content of a cell; null is empty. */
export type Cell = string | number | boolean | null;

export const MAX_SHEET_ROWS = 10_000;
export const MAX_SHEET_COLUMNS = 702;
export const MAX_CELLS_PER_CALL = 10_000;
const MAX_CELL_CHARS = 10_000;

const A1 = /^([A-Z]{1,2})([1-9]\d{0,4})(?::([A-Z]{1,2})([1-9]\d{0,4}))?$/;
const LETTERS = 26;
const BEFORE_A = 64;

/** Parses `B2` or `B2:D10`; corners may come in any order. Throws a RangeError that says what is wrong. */
export function parseRange(text: string): Range {
  const [, left = "", top, right = left, bottom = top] = A1.exec(text.toUpperCase()) ?? [];
  if (left === "") throw new RangeError("a range is written A1 or A1:B2");
  const columns = [columnOf(left), columnOf(right)];
  const rows = [Number(top), Number(bottom)];
  if (Math.max(...rows) > MAX_SHEET_ROWS) throw new RangeError(`a sheet has at most ${MAX_SHEET_ROWS} rows`);
  return mustBeSmall({
    top: Math.min(...rows),
    left: Math.min(...columns),
    bottom: Math.max(...rows),
    right: Math.max(...columns),
  });
}

export function rangeText({ top, left, bottom, right }: Range): string {
  const start = `${columnName(left)}${top}`;
  return top === bottom && left === right ? start : `${start}:${columnName(right)}${bottom}`;
}

/** Returns the range if one call may read or write it. */
export function mustBeSmall(range: Range): Range {
  const cells = (range.bottom - range.top + 1) * (range.right - range.left + 1);
  if (cells > MAX_CELLS_PER_CALL) throw new RangeError(`at most ${MAX_CELLS_PER_CALL} cells per call`);
  return range;
}

/**
 * Places rows of values from the range's first cell on. A range of more than one cell must be large enough for them.
 * Throws a RangeError if the values are not rows of cells or do not fit.
 */
export function placeValues(range: Range, values: unknown): { range: Range; rows: Cell[][] } {
  if (!Array.isArray(values) || values.length === 0 || !values.every(Array.isArray)) {
    throw new RangeError("values must be a list of rows, each a list of cells");
  }
  const rows = values as unknown[][];
  const width = Math.max(1, ...rows.map((row) => row.length));
  const { top, left } = range;
  const bottom = top + rows.length - 1;
  const right = left + width - 1;
  const isOneCell = top === range.bottom && left === range.right;
  if (!isOneCell && (bottom > range.bottom || right > range.right)) {
    throw new RangeError(`the values do not fit into ${rangeText(range)}`);
  }
  if (bottom > MAX_SHEET_ROWS || right > MAX_SHEET_COLUMNS) {
    throw new RangeError("the values go beyond the end of the sheet");
  }
  if (!rows.every((row) => row.every(isCell))) {
    throw new RangeError(`a cell is null, a boolean, a number or a text of at most ${MAX_CELL_CHARS} characters`);
  }
  return { range: mustBeSmall({ top, left, bottom, right }), rows: rows as Cell[][] };
}

function isCell(value: unknown): value is Cell {
  if (typeof value === "string") {
    return value.length <= MAX_CELL_CHARS && !value.includes("\0") && value.isWellFormed();
  }
  return value === null || typeof value === "boolean" || Number.isFinite(value);
}

function columnOf(letters: string): number {
  return [...letters].reduce((column, letter) => column * LETTERS + letter.charCodeAt(0) - BEFORE_A, 0);
}

function columnName(column: number): string {
  const before = Math.floor((column - 1) / LETTERS);
  const last = String.fromCharCode(((column - 1) % LETTERS) + BEFORE_A + 1);
  return before === 0 ? last : columnName(before) + last;
}
