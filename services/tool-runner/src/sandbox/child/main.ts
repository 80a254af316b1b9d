import { readSync, writeSync } from "node:fs";
import { createFrameReader, encodeFrame, takeFrame } from "../protocol/frames.ts";
import type { ChildFrame, FromChild, ToChild } from "../protocol/messages.ts";
import { ProgressFile } from "../protocol/progress-file.ts";
import { ChildRuns } from "./child-runs.ts";
import { ToolIsolates } from "./tool-isolates.ts";

/**
 * The child process. It blocks while it reads, so that a message costs no trip through an event loop; the loop turns
 * once between two frames, for the engine's housekeeping. When the pool's process ends, the input ends and so does this
 * process.
 */
const IN_FD = 0;
const OUT_FD = 1;
const PROGRESS_FD = 3;
const READ_BYTES = 256 * 1024;
const FLUSH_AFTER_MS = 1;

function main(settings: string): void {
  const isolates = new ToolIsolates(JSON.parse(settings));
  const messages: FromChild[] = [];
  const runs = new ChildRuns(isolates, new ProgressFile(PROGRESS_FD), (message) => messages.push(message));
  let flushedAt = performance.now();
  let reportedDone = 0;

  const write = (value: ChildFrame) => {
    const frame = encodeFrame(value);
    for (let at = 0; at < frame.length; ) at += writeSync(OUT_FD, frame, at);
  };
  const flush = () => {
    flushedAt = performance.now();
    do {
      const part = takeFrame(messages);
      if (messages.length === 0) reportedDone = runs.done;
      write({ done: reportedDone, messages: part });
    } while (messages.length > 0);
  };

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
    isolates.prepareSpare();
    setImmediate(turn);
  };
  write({ done: 0, messages: [], takesParts: true });
  turn();
}

main(process.argv[2] ?? "");
