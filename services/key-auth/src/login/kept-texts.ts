import { SIGNED_TEXT_LIFE_MS } from "@toolgate/service-host/identity/signed-text";

interface Kept {
  text: Promise<string>;
  signedAtMs: number;
}

const REUSED_FOR_MS = SIGNED_TEXT_LIFE_MS / 2;

/** Keeps signed texts by what they say for half of their life, so that they are signed and verified once for many calls. */
export class KeptTexts {
  readonly #now: () => Date;
  readonly #maxKept: number;
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>();

  constructor({ now, maxKept }: { now: () => Date; maxKept: number }) {
    this.#now = now;
    this.#maxKept = maxKept;
  }

  /** The text that is kept under this id, which says all that the text says; otherwise a new one. */
  get(id: string, sign: (now: Date) => Promise<string>): Promise<string> {
    const now = this.#now();
    const found = this.#kept.get(id);
    // A clock that was set back must not keep a text that has long expired for others.
    if (found && Math.abs(now.getTime() - found.signedAtMs) < REUSED_FOR_MS) return found.text;
    const kept = { text: sign(now), signedAtMs: now.getTime() };
    this.#kept.delete(id);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= this.#maxKept && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(id, kept);
    kept.text.catch(() => {
      if (this.#kept.get(id) === kept) this.#kept.delete(id);
    });
    return kept.text;
  }
}
