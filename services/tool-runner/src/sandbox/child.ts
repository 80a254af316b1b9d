import { readSync, writeSync } from "node:fs";
import { createChildRuns } from "./child-runs.ts";
import { createIsolateHomes } from "./isolate-homes.ts";
import { useChildLedger } from "./ledger.ts";
import {
  type ChildFrame,
  createFrameReader,
  encodeFrame,
  type FromChild,
  type ToChild,
  takeFrame,
} from "./protocol.ts";

/**
 * The child process. It blocks on its channel, so a message costs no trip through an event loop; between two frames
 * the loop turns once, for the engine's own chores. When the pool is gone the channel ends, and so does this process.
 */
const IN_FD = 0;
const OUT_FD = 1;
const LEDGER_FD = 3;
const READ_BYTES = 256 * 1024;
const FLUSH_AFTER_MS = 1;

function main(): void {
  const messages: FromChild[] = [];
  let done = 0;
  let toldDone = 0;
  let flushedAt = performance.now();

  const flush = () => {
    flushedAt = performance.now();
    do {
      const part = takeFrame(messages);
      // An entry is finished for the pool once it has all that came of it.
      if (messages.length === 0) toldDone = done;
      const frame = encodeFrame({ done: toldDone, messages: part } satisfies ChildFrame);
      for (let at = 0; at < frame.length; ) at += writeSync(OUT_FD, frame, at);
    } while (messages.length > 0);
  };

  const homes = createIsolateHomes();
  const runs = createChildRuns(
    homes,
    useChildLedger(LEDGER_FD),
    (message) => messages.push(message),
    (seq) => {
      done = seq;
    },
  );

  const readFrames = createFrameReader();
  const input = Buffer.allocUnsafe(READ_BYTES);
  const turn = () => {
    const length = readSync(IN_FD, input, 0, READ_BYTES, null);
    if (length === 0) return;
    for (const frame of readFrames(Buffer.from(input.subarray(0, length)))) {
      flushedAt = performance.now();
      for (const message of frame as ToChild[]) {
        runs.handle(message);
        if (performance.now() - flushedAt > FLUSH_AFTER_MS) flush();
      }
      flush();
    }
    homes.prepareSpare();
    setImmediate(turn);
  };
  flush();
  turn();
}

main();
