/** Longest text that is made for one pattern. */
const MAX_CHARACTERS = 500;
const MAX_LEVELS = 20;
/** What to try where a set says only what may not stand. */
const USUAL = "aA0-_ .b1";
const CLASSES: Record<string, string> = { d: "0", w: "a", s: " ", D: "a", W: "-", S: "a", t: "\t", n: "\n", r: "\r" };
const PROPERTIES: Record<string, string> = { L: "a", Ll: "a", Lu: "A", Letter: "a", N: "0", Nd: "0", Alphabetic: "a" };
const CATEGORY = /^\{([A-Za-z]+)\}/;
const QUANTIFIER = /^(?:([*+?])|\{(\d+)(,(\d*))?\})/;
const SPECIAL = new Set("\\^$.*+?()[]{}|");

type Cursor = { readonly characters: string[]; at: number; readonly extra: number };
class NotUnderstood extends Error {}

/**
 * A text in which the pattern finds a match, without running the pattern: `extra` repetitions more than it asks for
 * where it sets no bound. Undefined for a pattern that is not understood.
 */
export function patternExample(pattern: string, extra: number): string | undefined {
  const cursor: Cursor = { characters: [...pattern], at: 0, extra };
  try {
    const example = readAlternatives(cursor, 1);
    return cursor.at === cursor.characters.length ? example : undefined;
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined;
    throw error;
  }
}

/** The text of the first alternative; the others are read over. */
function readAlternatives(cursor: Cursor, level: number): string {
  if (level > MAX_LEVELS) throw new NotUnderstood();
  const first = readSequence(cursor, level);
  while (peek(cursor) === "|") {
    cursor.at += 1;
    readSequence(cursor, level);
  }
  return first;
}

function readSequence(cursor: Cursor, level: number): string {
  let text = "";
  for (let next = peek(cursor); next !== undefined && next !== "|" && next !== ")"; next = peek(cursor)) {
    const piece = readPiece(cursor, level);
    text += piece.repeat(readCount(cursor, piece.length));
    if (text.length > MAX_CHARACTERS) throw new NotUnderstood();
  }
  return text;
}

function readPiece(cursor: Cursor, level: number): string {
  const character = take(cursor);
  switch (character) {
    case "^":
    case "$":
      return "";
    case ".":
      return "a";
    case "[":
      return readSet(cursor);
    case "\\":
      return readEscape(cursor);
    case "(":
      return readGroup(cursor, level);
    default:
      if (SPECIAL.has(character)) throw new NotUnderstood();
      return character;
  }
}

function readGroup(cursor: Cursor, level: number): string {
  if (peek(cursor) === "?") {
    cursor.at += 1;
    if (take(cursor) !== ":") throw new NotUnderstood();
  }
  const text = readAlternatives(cursor, level + 1);
  if (take(cursor) !== ")") throw new NotUnderstood();
  return text;
}

/** How often a piece stands: as seldom as it may, plus `extra`. */
function readCount(cursor: Cursor, pieceLength: number): number {
  const rest = cursor.characters.slice(cursor.at, cursor.at + 16).join("");
  const found = QUANTIFIER.exec(rest);
  if (!found) return 1;
  cursor.at += found[0].length;
  if (peek(cursor) === "?") cursor.at += 1;
  const [, sign, least, comma, most] = found;
  const min = sign ? Number(sign === "+") : Number(least);
  const max = sign === "?" ? 1 : sign || (comma && !most) ? Number.POSITIVE_INFINITY : Number(most ?? least);
  const times = Math.min(max, min + cursor.extra);
  if (times * pieceLength > MAX_CHARACTERS) throw new NotUnderstood();
  return times;
}

function readEscape(cursor: Cursor): string {
  const character = take(cursor);
  if (character === "p") {
    const found = CATEGORY.exec(cursor.characters.slice(cursor.at, cursor.at + 16).join(""));
    const example = found?.[1] === undefined ? undefined : PROPERTIES[found[1]];
    if (!found || example === undefined) throw new NotUnderstood();
    cursor.at += found[0].length;
    return example;
  }
  if (Object.hasOwn(CLASSES, character)) return CLASSES[character] ?? "";
  if (/[A-Za-z0-9]/.test(character)) throw new NotUnderstood();
  return character;
}

function readSet(cursor: Cursor): string {
  const excluded = peek(cursor) === "^";
  if (excluded) cursor.at += 1;
  const ranges: [string, string][] = [];
  while (peek(cursor) !== "]") {
    const from = readSetMember(cursor, excluded);
    const isRange = peek(cursor) === "-" && cursor.characters[cursor.at + 1] !== "]";
    if (isRange) cursor.at += 1;
    ranges.push([from, isRange ? readSetMember(cursor, excluded) : from]);
  }
  cursor.at += 1;
  const chosen = excluded
    ? [...USUAL].find((candidate) => !ranges.some(([from, to]) => from <= candidate && candidate <= to))
    : ranges[0]?.[0];
  if (chosen === undefined) throw new NotUnderstood();
  return chosen;
}

function readSetMember(cursor: Cursor, excluded: boolean): string {
  const character = take(cursor);
  if (character !== "\\") return character;
  // A class in a set of what may not stand is more than the one character that stands for it here.
  if (excluded && /[pdwsDWS]/.test(peek(cursor) ?? "")) throw new NotUnderstood();
  return readEscape(cursor);
}

function peek(cursor: Cursor): string | undefined {
  return cursor.characters[cursor.at];
}

function take(cursor: Cursor): string {
  const character = cursor.characters[cursor.at];
  if (character === undefined) throw new NotUnderstood();
  cursor.at += 1;
  return character;
}
