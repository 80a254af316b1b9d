import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const STEP_AT = 0;
const TAKEN_BACK_AT = 8;
const FIELD_BYTES = 8;

/**
 * An unlinked file that the pool and one child hold open, because a child that hangs or was killed can send nothing.
 * The child writes the step that it begins, then reads which starts the pool has taken back; the pool writes what it
 * takes back, then reads the step. So at least one of them always sees the other's write, and no run is begun twice.
 */
export class ProgressFile {
  readonly fd: number;
  readonly #field = Buffer.alloc(FIELD_BYTES);

  constructor(fd: number) {
    this.fd = fd;
  }

  static create(): ProgressFile {
    const path = join(tmpdir(), `toolgate-progress-${randomUUID()}`);
    const fd = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    writeSync(fd, Buffer.alloc(TAKEN_BACK_AT + FIELD_BYTES));
    return new ProgressFile(fd);
  }

  /** Called by the child, with the time after which it will be interrupted. */
  begin(step: number, timeoutMs: number): void {
    this.#write(STEP_AT, step, Math.ceil(timeoutMs));
  }

  /** Called by the child, after `begin`. */
  isTakenBack(step: number): boolean {
    const [first, last] = this.#read(TAKEN_BACK_AT);
    return step >= first && step <= last;
  }

  /** Called by the pool: the step that the child is working on or worked on last. */
  currentStep(): number {
    return this.#read(STEP_AT)[0];
  }

  /** Called by the pool: the step, and the time after which the child tries to interrupt it. */
  current(): { step: number; timeoutMs: number } {
    const [step, timeoutMs] = this.#read(STEP_AT);
    return { step, timeoutMs };
  }

  /** Called by the pool: the child skips the starts `first` to `last`, except for those that it has begun. */
  takeBack(first: number, last: number): void {
    this.#write(TAKEN_BACK_AT, first, last);
  }

  close(): void {
    closeSync(this.fd);
  }

  #read(at: number): [number, number] {
    readSync(this.fd, this.#field, 0, FIELD_BYTES, at);
    return [this.#field.readUInt32LE(0), this.#field.readUInt32LE(4)];
  }

  #write(at: number, first: number, second: number): void {
    this.#field.writeUInt32LE(first, 0);
    this.#field.writeUInt32LE(second, 4);
    writeSync(this.fd, this.#field, 0, FIELD_BYTES, at);
  }
}
