import type { ErrorListener } from "./failure.ts";

/** Finds the base URLs of the servers, one per process, such as the pods behind a headless Service. */
export type AddressResolver = () => Promise<readonly string[]> | readonly string[];

/** Keeps a list of addresses fresh: asks every `everyMs`, and at once when told that something failed. */
export class AddressBook {
  readonly #resolve: AddressResolver;
  readonly #everyMs: number;
  readonly #onChange: (addresses: ReadonlySet<string>) => void;
  readonly #onError: ErrorListener;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;
  #closed = false;

  constructor(
    resolve: AddressResolver,
    everyMs: number,
    onChange: (addresses: ReadonlySet<string>) => void,
    onError: ErrorListener,
  ) {
    this.#resolve = resolve;
    this.#everyMs = everyMs;
    this.#onChange = onChange;
    this.#onError = onError;
  }

  /** Asks now unless an answer is on its way. A failed look keeps the addresses that are known. */
  async refresh(): Promise<void> {
    if (this.#asking || this.#closed) return;
    this.#asking = true;
    clearTimeout(this.#timer);
    try {
      const addresses = await this.#resolve();
      if (!this.#closed) this.#onChange(new Set(addresses));
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#asking = false;
      if (!this.#closed) this.#timer = setTimeout(() => void this.refresh(), this.#everyMs);
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
