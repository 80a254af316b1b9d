import { Code, ConnectError } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";

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
  readonly #verified: LRUCache<string, { value: T }>;

  constructor(verify: (text: string) => Promise<Verified<T>>, now: () => number) {
    this.#verified = new LRUCache({
      max: MAX_KNOWN,
      ttl: MAX_KNOWN_MS,
      ttlResolution: 0,
      perf: { now },
      // A verification under way ends as usual when others have taken its place.
      ignoreFetchAbort: true,
      async fetchMethod(text, _known, { options }) {
        const { value, expiresAtMs } = await verify(text);
        options.ttl = Math.max(1, Math.min(expiresAtMs - now(), MAX_KNOWN_MS));
        return { value };
      },
    });
  }

  /** Undefined for a text that has not been verified lately, or that has expired. */
  known(text: string): T | undefined {
    return this.#verified.get(text)?.value;
  }

  /** Rejects as `verify` does. */
  async read(text: string): Promise<T> {
    if (text.length > MAX_CHARACTERS) throw new ConnectError("credential too long", Code.Unauthenticated);
    const { value } = await this.#verified.forceFetch(text);
    return value;
  }
}
