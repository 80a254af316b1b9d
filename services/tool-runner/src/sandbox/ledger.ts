import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Eight bytes from the child (the entry it is working on) and eight from the pool (the first and last start that it
 * takes back), in an unlinked file that both hold open. A child that hangs or is killed can tell nothing any more,
 * yet the pool must know what it had begun. The child writes its word before it reads the pool's, the pool writes its
 * word before it reads the child's, so one of the two always sees the other and no run is begun twice.
 */
const ENTRY_AT = 0;
const RECALL_AT = 8;
const WORD_BYTES = 8;

export type PoolLedger = Disposable & {
  readonly fd: number;
  /** The entry that the child works on or worked on last. */
  current: () => number;
  /** Takes back the starts `first` to `last`, as far as the child has not begun them. */
  recall: (first: number, last: number) => void;
};

export function openPoolLedger(): PoolLedger {
  const path = join(tmpdir(), `toolgate-ledger-${randomUUID()}`);
  const fd = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  const word = Buffer.alloc(WORD_BYTES);
  writeSync(fd, Buffer.alloc(RECALL_AT + WORD_BYTES), 0, RECALL_AT + WORD_BYTES, 0);
  let open = true;
  return {
    fd,
    current: () => {
      readSync(fd, word, 0, WORD_BYTES, ENTRY_AT);
      return word.readUInt32LE(0);
    },
    recall: (first, last) => {
      word.writeUInt32LE(first, 0);
      word.writeUInt32LE(last, 4);
      writeSync(fd, word, 0, WORD_BYTES, RECALL_AT);
    },
    [Symbol.dispose]: () => {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

export type ChildLedger = {
  begin: (seq: number) => void;
  /** Whether the pool has taken this start back; to be asked after `begin`. */
  isRecalled: (seq: number) => boolean;
};

export function useChildLedger(fd: number): ChildLedger {
  const entry = Buffer.alloc(WORD_BYTES);
  const range = Buffer.alloc(WORD_BYTES);
  return {
    begin: (seq) => {
      entry.writeUInt32LE(seq, 0);
      writeSync(fd, entry, 0, WORD_BYTES, ENTRY_AT);
    },
    isRecalled: (seq) => {
      readSync(fd, range, 0, WORD_BYTES, RECALL_AT);
      return seq >= range.readUInt32LE(0) && seq <= range.readUInt32LE(4);
    },
  };
}
