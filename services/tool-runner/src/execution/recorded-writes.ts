import { removeSecrets, type UsedSecrets } from "../domain/calls/remove-secrets.ts";

/** A write that a dry run recorded instead of making it. */
export interface RecordedWrite {
  tool: string;
  /** The host function, or "api" for a declarative call. */
  name: string;
  /** What would have been written, redacted; only its length when it was left out. */
  detailJson: string;
}

const MAX_WRITES = 200;
/** Of all writes together. With a result of 1 MiB they fit into one message. */
const MAX_DETAIL_BYTES = 1024 * 1024;

/** The writes of one dry run. Each is encoded when it is recorded, because values can take 40 times the memory of their text. */
export class RecordedWrites {
  readonly #redact: (value: unknown) => unknown;
  readonly #writes: RecordedWrite[] = [];
  #bytesLeft = MAX_DETAIL_BYTES;

  constructor(redact: (value: unknown) => unknown) {
    this.#redact = redact;
  }

  add(tool: string, name: string, detail: unknown): void {
    if (this.#writes.length < MAX_WRITES) this.#writes.push({ tool, name, detailJson: this.#encoded(detail) });
  }

  /** All of them, without the secrets that the run has used until now. */
  list(usedSecrets: UsedSecrets): RecordedWrite[] {
    if (!usedSecrets.remover) return this.#writes;
    // Together, because the work on each value is bounded.
    const details = removeSecrets(
      this.#writes.map(({ detailJson }) => JSON.parse(detailJson)),
      usedSecrets,
    );
    return this.#writes.map((write, index) => ({ ...write, detailJson: JSON.stringify(details[index]) }));
  }

  #encoded(detail: unknown): string {
    const json = JSON.stringify(detail);
    const bytes = Buffer.byteLength(json);
    if (bytes > this.#bytesLeft) return lengthOnly(json);
    const redacted = JSON.stringify(this.#redact(detail));
    this.#bytesLeft -= Math.max(bytes, Buffer.byteLength(redacted));
    return this.#bytesLeft < 0 ? lengthOnly(redacted) : redacted;
  }
}

function lengthOnly({ length }: string): string {
  return JSON.stringify({ truncated: true, characters: length });
}
