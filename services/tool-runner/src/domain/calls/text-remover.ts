import { REMOVED } from "@toolgate/redaction/redactor";

const MAX_START_CHARS = 16;

/** Removes any of many texts from longer ones, in one pass over each. */
export class TextRemover {
  readonly #unwanted: ReadonlySet<string>;
  readonly #startChars: number;
  /** Longest first. */
  readonly #byStart = new Map<string, string[]>();
  readonly #isFirstPair = new Uint8Array(0x10000);

  constructor(unwanted: ReadonlySet<string>) {
    this.#unwanted = unwanted;
    const longestFirst = [...unwanted].sort((a, b) => b.length - a.length);
    this.#startChars = Math.min(MAX_START_CHARS, longestFirst.at(-1)?.length ?? 0);
    for (const each of longestFirst) {
      const start = each.slice(0, this.#startChars);
      const alike = this.#byStart.get(start);
      if (alike) alike.push(each);
      else this.#byStart.set(start, [each]);
      this.#isFirstPair[pairAt(each, 0)] = 1;
    }
  }

  isUnwanted(text: string): boolean {
    return this.#unwanted.has(text);
  }

  /**
   * The text without every character that is part of an unwanted text. Once the budget is used up, what only begins like
   * an unwanted text is removed too.
   */
  removeFrom(text: string, budget: { steps: number }): string {
    let cleaned = "";
    let removedTo = 0;
    for (let at = 0; at <= text.length - this.#startChars; at += 1) {
      if (this.#isFirstPair[pairAt(text, at)] === 0) continue;
      const end = this.#endOfUnwanted(text, at, removedTo, budget);
      if (end <= removedTo) continue;
      if (at >= removedTo) cleaned += text.slice(removedTo, at) + REMOVED;
      removedTo = end;
    }
    return removedTo === 0 ? text : cleaned + text.slice(removedTo);
  }

  /** Where the longest unwanted text that begins here ends; 0 unless that is after `removedTo`. */
  #endOfUnwanted(text: string, at: number, removedTo: number, budget: { steps: number }): number {
    for (const each of this.#byStart.get(text.slice(at, at + this.#startChars)) ?? []) {
      const end = at + each.length;
      if (end <= removedTo) return 0;
      if (budget.steps < 0) return end;
      budget.steps -= 1;
      if (text.charCodeAt(end - 1) !== each.charCodeAt(each.length - 1)) continue;
      budget.steps -= each.length;
      if (text.startsWith(each, at)) return end;
    }
    return 0;
  }
}

/** A number below 65,536 for two characters. */
function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) << 8) ^ text.charCodeAt(at + 1)) & 0xffff;
}
