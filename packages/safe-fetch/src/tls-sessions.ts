import { performance } from "node:perf_hooks";

const MAX_SESSIONS = 2_048;
/** Most have 2 to 4 KB. The server chooses how large one is, so larger ones are not kept. */
const MAX_SESSION_BYTES = 16_384;
/** A session repeats the trust of the handshake that it is from, so certificates are checked again after this time. */
const MAX_AGE_MS = 600_000;

type Kept = { session: Buffer; checkedAtMs: number };

/**
 * TLS sessions by origin and reuse key, for new connections with the same key: resuming one costs a fraction of a full
 * handshake.
 */
export class TlsSessions {
  readonly #kept = new Map<string, Kept>();
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  get(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || this.#now() - kept.checkedAtMs < MAX_AGE_MS) return kept;
    this.#kept.delete(key);
    return undefined;
  }

  /** @param checkedAtMs when the certificate was checked; undefined: now */
  put(key: string, session: Buffer, checkedAtMs = this.#now()): void {
    this.#kept.delete(key);
    if (session.byteLength > MAX_SESSION_BYTES) return;
    this.#kept.set(key, { session, checkedAtMs });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_SESSIONS && oldest !== undefined) this.#kept.delete(oldest);
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }
}
