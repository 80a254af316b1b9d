import { Code, ConnectError } from "@connectrpc/connect";

/** What a signed text says, and until when. */
interface Verified<T> {
  value: T;
  expiresAtMs: number;
}

const MAX_CHARACTERS = 4_000;
const MAX_KNOWN = 20_000;
/** A text whose key was withdrawn is refused from then on, however long it claims to be valid. */
const MAX_KNOWN_MS = 60_000;

/**
 * Remembers what signed texts say until they expire, for a minute at most, so that each is verified once, however often it
 * comes. `verify` rejects with a ConnectError. Texts that are refused are not remembered.
 */
export class VerifiedTexts<T> {
  readonly #verify: (text: string) => Promise<Verified<T>>;
  readonly #now: () => number;
  /** The oldest first. */
  readonly #known = new Map<string, Verified<T>>();
  readonly #underWay = new Map<string, Promise<T>>();

  constructor(verify: (text: string) => Promise<Verified<T>>, now: () => number) {
    this.#verify = verify;
    this.#now = now;
  }

  /** Undefined for a text that has not been verified lately, or that has expired. */
  known(text: string): T | undefined {
    const found = this.#known.get(text);
    if (found === undefined) return undefined;
    if (found.expiresAtMs > this.#now()) return found.value;
    this.#known.delete(text);
    return undefined;
  }

  /** Rejects as `verify` does. */
  read(text: string): Promise<T> {
    if (text.length > MAX_CHARACTERS) {
      return Promise.reject(new ConnectError("credential too long", Code.Unauthenticated));
    }
    const known = this.known(text);
    if (known !== undefined) return Promise.resolve(known);
    const underWay = this.#underWay.get(text);
    if (underWay) return underWay;
    const reading = this.#read(text).finally(() => this.#underWay.delete(text));
    this.#underWay.set(text, reading);
    return reading;
  }

  async #read(text: string): Promise<T> {
    const { value, expiresAtMs } = await this.#verify(text);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(text, { value, expiresAtMs: Math.min(expiresAtMs, this.#now() + MAX_KNOWN_MS) });
    return value;
  }
}
