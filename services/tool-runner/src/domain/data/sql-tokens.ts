/** `text` is everything that runs; `gap` is white space or a comment; `open` is a quote or comment that never ends. */
type SqlToken = { kind: "text" | "gap" | "parameter" | "semicolon" | "open"; start: number; end: number };

const GAP = /\s+|--[^\n\r]*/y;
const WORD = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const NUMBER = /[0-9][\p{L}\p{N}_.]*/uy;
const DOLLAR_QUOTE = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;
const PARAMETER = /:[A-Za-z_][A-Za-z0-9_]*/y;
const COLONS = /::|:=/y;
const COMMENT_MARK = /\/\*|\*\//g;
const ESCAPED_QUOTE_END = /\\[\s\S]|''|'/g;
const ENDS_VALUE = /[\p{L}\p{N}_)\]"']/u;

/** Splits a PostgreSQL statement into tokens that cover all of it. Accepts any text: it checks no syntax. */
export function* sqlTokens(sql: string): Generator<SqlToken> {
  let start = 0;
  while (start < sql.length) {
    const token = tokenAt(sql, start);
    yield { ...token, start };
    start = token.end;
  }
}

type Piece = Omit<SqlToken, "start">;

function tokenAt(sql: string, at: number): Piece {
  const char = sql[at] ?? "";
  if (char === ";") return { kind: "semicolon", end: at + 1 };
  if (char === ":") return colonAt(sql, at);
  if (char === "'" || char === '"') return quotedUntil(sql, sql.indexOf(char, at + 1), 1);
  if (sql.startsWith("/*", at)) return commentAt(sql, at);
  const gap = matchEnd(GAP, sql, at);
  if (gap !== undefined) return { kind: "gap", end: gap };
  const quote = char === "$" ? matchEnd(DOLLAR_QUOTE, sql, at) : undefined;
  if (quote !== undefined) {
    const tag = sql.slice(at, quote);
    return quotedUntil(sql, sql.indexOf(tag, quote), tag.length);
  }
  const word = matchEnd(WORD, sql, at) ?? matchEnd(NUMBER, sql, at) ?? at + 1;
  const isEscapeMark = word === at + 1 && (char === "e" || char === "E") && sql[word] === "'";
  return isEscapeMark ? escapedTextAt(sql, word) : { kind: "text", end: word };
}

/** A colon after a value belongs to an array slice: `a[1:n]`. */
function colonAt(sql: string, at: number): Piece {
  const colons = matchEnd(COLONS, sql, at);
  if (colons !== undefined) return { kind: "text", end: colons };
  const end = matchEnd(PARAMETER, sql, at);
  if (end === undefined || ENDS_VALUE.test(sql[at - 1] ?? "")) return { kind: "text", end: at + 1 };
  return { kind: "parameter", end };
}

function commentAt(sql: string, at: number): Piece {
  let depth = 0;
  COMMENT_MARK.lastIndex = at;
  for (let mark = COMMENT_MARK.exec(sql); mark !== null; mark = COMMENT_MARK.exec(sql)) {
    depth += mark[0] === "/*" ? 1 : -1;
    if (depth === 0) return { kind: "gap", end: mark.index + mark[0].length };
  }
  return { kind: "open", end: sql.length };
}

function escapedTextAt(sql: string, quote: number): Piece {
  ESCAPED_QUOTE_END.lastIndex = quote + 1;
  for (let part = ESCAPED_QUOTE_END.exec(sql); part !== null; part = ESCAPED_QUOTE_END.exec(sql)) {
    if (part[0] === "'") return { kind: "text", end: part.index + 1 };
  }
  return { kind: "open", end: sql.length };
}

function quotedUntil(sql: string, mark: number, markLength: number): Piece {
  return mark === -1 ? { kind: "open", end: sql.length } : { kind: "text", end: mark + markLength };
}

function matchEnd(pattern: RegExp, sql: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : undefined;
}
