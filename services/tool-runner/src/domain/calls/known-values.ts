const UNKNOWN = -1;

/**
 * Finds out which of many JSON values a value is equal to, in the time that it takes to read the value once: equal values
 * get the same number, and those of a list or an object follow from the numbers of its parts.
 */
export class KnownValues {
  readonly #numbers = new Map<unknown, number>();
  readonly #found = new Map<object, number>();
  #hasComposed = false;

  /** The number of a value, which is known from then on. */
  add(value: unknown): number {
    if (isComposed(value)) this.#hasComposed = true;
    const key = keyOf(value, (part) => this.add(part));
    const number = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, number);
    return number;
  }

  /** The number of a known value; another number for any other value. */
  find(value: unknown): number {
    if (!isComposed(value)) return this.#numbers.get(keyOf(value)) ?? UNKNOWN;
    if (!this.#hasComposed) return UNKNOWN;
    const found = this.#found.get(value);
    if (found !== undefined) return found;
    const number = this.#numbers.get(keyOf(value, (part) => this.find(part))) ?? UNKNOWN;
    this.#found.set(value, number);
    return number;
  }

  /** Must be called before a list or an object that was looked for changes. */
  forgetFound(): void {
    if (this.#found.size > 0) this.#found.clear();
  }
}

function isComposed(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The same for equal values, whatever the order of members. */
function keyOf(value: unknown, numberOf: (part: unknown) => number = () => UNKNOWN): unknown {
  if (typeof value === "string") return `"${value}`;
  if (!isComposed(value)) return value;
  if (Array.isArray(value)) return `[${value.map(numberOf).join()}`;
  const members = Object.entries(value).map(([name, member]) => `${numberOf(name)}:${numberOf(member)}`);
  return `{${members.sort().join()}`;
}
