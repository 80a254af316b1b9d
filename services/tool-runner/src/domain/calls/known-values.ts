const UNKNOWN = -1;

/**
 * Finds out which of many JSON values a value is equal to, in the time that it takes to read the value once: equal values
 * get the same number, and those of a list or an object follow from the numbers of its parts.
 */
export class KnownValues {
  readonly #plain = new Map<unknown, number>();
  readonly #composed = new Map<string, number>();
  readonly #found = new Map<object, number>();

  /** The number of a value, which is known from then on. */
  add(value: unknown): number {
    if (!isComposed(value)) return numbered(this.#plain, value, this.#size);
    const parts = partsOf(value, (part) => this.add(part)) ?? "";
    return numbered(this.#composed, parts, this.#size);
  }

  /** The number of a known value; another number for any other value. */
  find(value: unknown): number {
    if (!isComposed(value)) return this.#plain.get(value) ?? UNKNOWN;
    if (this.#composed.size === 0) return UNKNOWN;
    const found = this.#found.get(value);
    if (found !== undefined) return found;
    const parts = partsOf(value, (part) => this.find(part));
    const number = parts === undefined ? UNKNOWN : (this.#composed.get(parts) ?? UNKNOWN);
    this.#found.set(value, number);
    return number;
  }

  /** Must be called before a list or an object that was looked for changes. */
  forgetFound(): void {
    if (this.#found.size > 0) this.#found.clear();
  }

  get #size(): number {
    return this.#plain.size + this.#composed.size;
  }
}

function isComposed(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function numbered<Key>(numbers: Map<Key, number>, key: Key, next: number): number {
  const number = numbers.get(key) ?? next;
  numbers.set(key, number);
  return number;
}

type NumberOf = (part: unknown) => number;

/** A text that is the same for equal lists or objects; undefined as soon as a part is unknown. */
function partsOf(value: object, numberOf: NumberOf): string | undefined {
  return Array.isArray(value) ? itemsOf(value, numberOf) : membersOf(value as Record<string, unknown>, numberOf);
}

function itemsOf(list: unknown[], numberOf: NumberOf): string | undefined {
  const numbers: number[] = [];
  for (const item of list) {
    const number = numberOf(item);
    if (number === UNKNOWN) return undefined;
    numbers.push(number);
  }
  return `[${numbers.join()}`;
}

function membersOf(object: Record<string, unknown>, numberOf: NumberOf): string | undefined {
  const members: string[] = [];
  for (const name of Object.keys(object)) {
    const nameNumber = numberOf(name);
    const number = nameNumber === UNKNOWN ? UNKNOWN : numberOf(object[name]);
    if (number === UNKNOWN) return undefined;
    members.push(`${nameNumber}:${number}`);
  }
  return `{${members.sort().join()}`;
}
