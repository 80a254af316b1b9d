import { RE2JS } from "re2js";

const MAX_PATTERN_CHARS = 2_000;
const MAX_PROGRAM_STEPS = 5_000;
const TOO_LARGE = "is too large once its repetitions are counted";

/**
 * [TOOL-31] Compiles a pattern with the grammar of ECMA-262 (flag u, unanchored) for an engine whose time grows
 * linearly with the text. Throws a SyntaxError if the pattern is invalid or needs something that this engine cannot do:
 * back-references, look-around, inline flags. `steps` is the size of the compiled program.
 */
export function compilePattern(pattern: string): { test(text: string): boolean; steps: number } {
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw new SyntaxError(`must have at most ${MAX_PATTERN_CHARS} characters`);
  }
  new RegExp(pattern, "u");
  if (leastSteps(pattern) > MAX_PROGRAM_STEPS) throw new SyntaxError(TOO_LARGE);
  const compiled = compileLinear(RE2JS.translateRegExp(forLinearEngine(pattern)));
  const steps = compiled.programSize();
  if (steps > MAX_PROGRAM_STEPS) throw new SyntaxError(TOO_LARGE);
  return { steps, test: (text) => compiled.test(text) };
}

/** Why a pattern cannot be used; undefined when it can, after its size has been counted. */
export function patternViolation(pattern: string, countSteps: (steps: number) => void = () => {}): string | undefined {
  try {
    countSteps(compilePattern(pattern).steps);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

/** An atom, a bound of repetitions, or the start or end of a group of a valid pattern. */
const TOKEN = /\\[pPu]\{[^}]*\}|\\[\s\S]|\[(?:\\[\s\S]|[^\]])*\]|\{(\d+)(?:,(\d*))?\}|\((?:\?(?::|<[^>]*>))?|[\s\S]/gu;

/** At least so many steps has the program, which is found without building it, since that can take seconds. */
function leastSteps(pattern: string): number {
  const groups = [0];
  let atom = 0;
  for (const [token, least, most] of pattern.matchAll(TOKEN)) {
    if (token.startsWith("(")) {
      groups.push(0);
      continue;
    }
    const isGroup = token === ")" && groups.length > 1;
    const inside = isGroup ? (groups.pop() ?? 0) : 0;
    const outer = groups.at(-1) ?? 0;
    if (least !== undefined) {
      const added = atom * Math.max(0, Math.max(Number(least), Number(most ?? 0)) - 1);
      atom += added;
      groups[groups.length - 1] = outer + added;
    } else if (!/^[*+?|^$]$/u.test(token)) {
      atom = isGroup ? inside : 1;
      groups[groups.length - 1] = outer + atom;
    }
  }
  return groups[0] ?? 0;
}

function compileLinear(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "unknown reason";
    throw new SyntaxError(`is not supported: ${reason}`);
  }
}

/** One part of a pattern: an escape (with both halves of a surrogate pair), a group opening, or one character. */
const PART =
  /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u\{[^}]*\}|\\[pP]\{[^}]*\}|\\[\s\S]|\(\?(?:<(?![=!])|:)?|[\s\S]/giu;

const SPACES = "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
const NON_SPACES =
  "\\0-\\x08\\x0e-\\x1f!-\\x9f\\xa1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff" +
  "\\u3001-\\ufefe\\uff00-\\u{10ffff}";
const NO_LINE_END = "[^\\n\\r\\u2028\\u2029]";

/** Rewrites what the two engines understand differently: `\s`, `\S`, `.` and surrogate pairs. */
function forLinearEngine(pattern: string): string {
  let inClass = false;
  return pattern.replace(PART, (part, high: string | undefined, low: string | undefined) => {
    if (high !== undefined && low !== undefined) return codePointOf(high, low);
    if (part === "\\s") return inClass ? SPACES : `[${SPACES}]`;
    if (part === "\\b" && inClass) return "\\x08";
    if (part === "\\S") return inClass ? NON_SPACES : `[${NON_SPACES}]`;
    if (/^\\[1-9k]$/.test(part)) throw new SyntaxError("back-references are not supported");
    if (/^\\p\{/i.test(part)) return part.replace(/\{(?:General_Category|gc|Script|sc)=/, "{");
    if (part === "(?" && !inClass) throw new SyntaxError("look-around and inline flags are not supported");
    if (part === "." && !inClass) return NO_LINE_END;
    if (part === "[") inClass = true;
    else if (part === "]") inClass = false;
    return part;
  });
}

function codePointOf(high: string, low: string): string {
  const text = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
  return `\\u{${text.codePointAt(0)?.toString(16)}}`;
}
