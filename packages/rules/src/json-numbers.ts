/** Every number that may be inexact looks like this; so do most texts that have none. */
const SUSPECT = /\d{16}|[eE]\+?\d{2}/;
const INTEGER = /^-?\d+$/;

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/**
 * Whether JSON has a number that JavaScript changes: an integer with more digits than it keeps, such as
 * 1234567890123456789, or one that is too large, such as 1e400. The text must be valid. Digits after
 * the decimal point do not count: every program rounds those. False for what is nested too deeply to be looked at.
 */
export function hasInexactNumber(json: string): boolean {
  if (!SUSPECT.test(json)) return false;
  let isInexact = false;
  const look: Reviver = (_key, value, { source = "" }) => {
    if (typeof value === "number" && !isExact(value, source)) isInexact = true;
    return value;
  };
  try {
    JSON.parse(json, look as (key: string, value: unknown) => unknown);
  } catch {
    return false;
  }
  return isInexact;
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  // Written again, it is the same text, or the same integer.
  if (Number.isSafeInteger(value) || !INTEGER.test(source) || String(value) === source) return true;
  return BigInt(source) === BigInt(value);
}
