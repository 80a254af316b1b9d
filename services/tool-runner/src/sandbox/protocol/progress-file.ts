import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * An unlinked file that the pool and one child hold open, because a child that hangs or was killed can send nothing.
 * The child writes the step that it begins, then reads which starts the pool has taken back; the pool writes what it
 * takes back, then reads the step. So one of them always sees the other's write, and no run is begun twice.
 */
const STEP_AT = 0;
const TAKEN_BACK_AT = 8;
const FIELD_BYTES = 8;

/** The pool's side. */
export class ProgressFile {
  readonly fd: number;
  readonly #field = Buffer.alloc(FIELD_BYTES);

  constructor() {
    const path = join(tmpdir(), `toolgate-progress-${randomUUID()}`);
    this.fd = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    writeSync(this.fd, Buffer.alloc(TAKEN_BACK_AT + FIELD_BYTES));
  }

  /** The step that the child is working on, or was last. */
  currentStep(): number {
    readSync(this.fd, this.#field, 0, FIELD_BYTES, STEP_AT);
    return this.#field.readUInt32LE(0);
  }

  /** The child skips the starts `first` to `last`, except for those that it has begun. */
  takeBack(first: number, last: number): void {
    this.#field.writeUInt32LE(first, 0);
    this.#field.writeUInt32LE(last, 4);
    writeSync(this.fd, this.#field, 0, FIELD_BYTES, TAKEN_BACK_AT);
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** The child's side. */
export class ChildProgress {
  readonly #fd: number;
  readonly #step = Buffer.alloc(FIELD_BYTES);
  readonly #takenBack = Buffer.alloc(FIELD_BYTES);

  constructor(fd: number) {
    this.#fd = fd;
  }

  begin(step: number): void {
    this.#step.writeUInt32LE(step, 0);
    writeSync(this.#fd, this.#step, 0, FIELD_BYTES, STEP_AT);
  }

  /** Only valid after `begin`. */
  isTakenBack(step: number): boolean {
    readSync(this.#fd, this.#takenBack, 0, FIELD_BYTES, TAKEN_BACK_AT);
    return step >= this.#takenBack.readUInt32LE(0) && step <= this.#takenBack.readUInt32LE(4);
  }
}
