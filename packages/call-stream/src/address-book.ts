import type { ErrorListener } from "./failure.ts";

/** Finds the base URLs of the servers, one per process, such as the pods behind a headless Service. */
export type AddressResolver = () => Promise<readonly string[]> | readonly string[];

/** Keeps a list of addresses up to date: looks them up every `everyMs`, and at once on `refresh`. */
export class AddressBook {
  readonly #resolve: AddressResolver;
  readonly #everyMs: number;
  readonly #onChange: (addresses: ReadonlySet<string>) => void;
  readonly #onError: ErrorListener;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
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

  /** Looks up now unless a lookup is running. A failed lookup keeps the addresses that are known. */
  async refresh(): Promise<void> {
    if (this.#running || this.#closed) return;
    this.#running = true;
    clearTimeout(this.#timer);
    try {
      const addresses = await this.#resolve();
      if (!this.#closed) this.#onChange(new Set(addresses));
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#running = false;
      if (!this.#closed) this.#timer = setTimeout(() => void this.refresh(), this.#everyMs);
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
