/** Replaces a value that was removed. [EVT-31] */
export const REMOVED = "[entfernt]";

const MAX_LEVELS = 64;
const MAX_KNOWN_NAMES = 10_000;
const MAX_KNOWN_NAME_CHARS = 64;

const SECRET_PARTS = [
  "password",
  "passwd",
  "pwd",
  "secret",
  "token",
  "apikey",
  "authorization",
  "iban",
  "credential",
  "privatekey",
  "cookie",
  "bic",
  "cardnumber",
  "cvv",
];
const SEPARATORS = /[_\-.\s]/g;
const COUNT_NAME = /tokens?(?:counts?)?$/;

/** `count` is a name that counts tokens: its value stays if it is a number and is removed otherwise. */
type Verdict = "keep" | "remove" | "drop" | "count";

/**
 * Makes the function that prepares arguments and results for the log and for events. It returns a copy in which the
 * values of secret-looking names are replaced [EVT-31] and names with a leading underscore are removed [EVT-32], at
 * every depth; anything nested deeper than 64 levels is removed as well. With `underscored: "keep"`, names with a leading
 * underscore are treated like any other, for data that a stranger has named.
 */
export function createRedactor({
  underscored = "drop",
}: {
  underscored?: "drop" | "keep";
} = {}): (value: unknown) => unknown {
  const known = new Map<string, Verdict>();

  function verdictOf(name: string): Verdict {
    const found = known.get(name);
    if (found !== undefined) return found;
    const verdict = underscored === "drop" && name.startsWith("_") ? "drop" : judge(name);
    if (name.length > MAX_KNOWN_NAME_CHARS) return verdict;
    if (known.size >= MAX_KNOWN_NAMES) known.clear();
    known.set(name, verdict);
    return verdict;
  }

  function redact(value: unknown, levels: number): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (levels === 0) return REMOVED;
    if (Array.isArray(value)) return value.map((item) => redact(item, levels - 1));
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[name];
      const verdict = verdictOf(name);
      if (name === "__proto__" && verdict === "keep") define(copy, name, redact(member, levels - 1));
      else if (verdict === "keep") copy[name] = redact(member, levels - 1);
      else if (verdict === "remove") copy[name] = REMOVED;
      else if (verdict === "count") copy[name] = isCount(member) ? member : REMOVED;
    }
    return copy;
  }

  return (value) => redact(value, MAX_LEVELS);
}

/** An assignment would set the prototype. */
function define(copy: object, name: string, value: unknown): void {
  Object.defineProperty(copy, name, { value, enumerable: true, writable: true, configurable: true });
}

function judge(name: string): Verdict {
  const plain = name.toLowerCase().replace(SEPARATORS, "");
  if (!isSecret(plain)) return "keep";
  return isCountName(plain) ? "count" : "remove";
}

function isSecret(plain: string): boolean {
  return SECRET_PARTS.some((part) => plain.includes(part));
}

function isCountName(plain: string): boolean {
  const found = COUNT_NAME.exec(plain);
  if (found === null || found[0] === "token") return false;
  return !isSecret(plain.slice(0, found.index));
}

function isCount(value: unknown): boolean {
  return typeof value === "number" || value === null;
}
