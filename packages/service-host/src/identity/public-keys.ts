import { setTimeout as delay } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { outsideRequest } from "@toolgate/telemetry/request";
import { type CryptoKey, importJWK, type JSONWebKeySet } from "jose";

/** Of the JWTs that key-auth signs. */
export const PRINCIPAL_ALGORITHM = "EdDSA";

const MIN_BETWEEN_LOADS_MS = 1_000;
const RELOAD_AFTER_MS = 600_000;

/**
 * The public keys of key-auth by their id. They are loaded when they are first needed, again when an unknown id comes,
 * and after ten minutes; at most once a second, however many ask. Old keys stay in use while key-auth is down.
 */
export class PublicKeys {
  readonly #load: () => Promise<JSONWebKeySet>;
  readonly #onError: (error: unknown) => void;
  #keys = new Map<string, CryptoKey>();
  #loading: Promise<void> | undefined;
  #startedAtMs = -Infinity;
  #loadedAtMs = -Infinity;

  constructor(load: () => Promise<JSONWebKeySet>, onError: (error: unknown) => void) {
    this.#load = load;
    this.#onError = onError;
  }

  /** Undefined when there is no such key. Rejects with `unavailable` when the keys cannot be loaded. */
  async find(id: string): Promise<CryptoKey | undefined> {
    const known = this.#keys.get(id);
    if (known === undefined) {
      const askedAtMs = performance.now();
      // A load that was under way may have begun before the key existed.
      do await this.#reload();
      while (!this.#keys.has(id) && this.#startedAtMs < askedAtMs);
      return this.#keys.get(id);
    }
    if (performance.now() - this.#loadedAtMs > RELOAD_AFTER_MS) this.#reload().catch(() => {});
    return known;
  }

  /** Everyone who asks meanwhile waits for the same load, so it belongs to no request. */
  #reload(): Promise<void> {
    this.#loading ??= outsideRequest(() => this.#loadOnce()).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #loadOnce(): Promise<void> {
    const waitMs = this.#startedAtMs + MIN_BETWEEN_LOADS_MS - performance.now();
    if (waitMs > 0) await delay(waitMs);
    this.#startedAtMs = performance.now();
    try {
      const { keys } = await this.#load();
      const imported = await Promise.all(
        keys.map(async (jwk) => [jwk.kid ?? "", (await importJWK(jwk, PRINCIPAL_ALGORITHM)) as CryptoKey] as const),
      );
      this.#keys = new Map(imported);
      this.#loadedAtMs = performance.now();
    } catch (error) {
      this.#onError(error);
      throw new ConnectError("the keys that verify principals cannot be loaded", Code.Unavailable);
    }
  }
}
