import { SIGNED_TEXT_LIFE_MS } from "@toolgate/service-host/identity/signed-text";

interface CachedText {
  text: Promise<string>;
  signedAtMs: number;
}

const REUSED_FOR_MS = SIGNED_TEXT_LIFE_MS / 2;

/** Caches signed texts by what they say for half of their life, so that they are signed and verified once for many calls. */
export class SignedTextCache {
  readonly #now: () => Date;
  readonly #maxCached: number;
  /** The oldest first. */
  readonly #cached = new Map<string, CachedText>();

  constructor({ now, maxCached }: { now: () => Date; maxCached: number }) {
    this.#now = now;
    this.#maxCached = maxCached;
  }

  /** The text that is cached under this id, which says all that the text says; otherwise a new one. */
  get(id: string, sign: (now: Date) => Promise<string>): Promise<string> {
    const now = this.#now();
    const found = this.#cached.get(id);
    // A clock that was set back must not keep a text that has long expired for others.
    if (found && Math.abs(now.getTime() - found.signedAtMs) < REUSED_FOR_MS) return found.text;
    const cached = { text: sign(now), signedAtMs: now.getTime() };
    this.#cached.delete(id);
    const [oldest] = this.#cached.keys();
    if (this.#cached.size >= this.#maxCached && oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(id, cached);
    cached.text.catch(() => {
      if (this.#cached.get(id) === cached) this.#cached.delete(id);
    });
    return cached.text;
  }
}
