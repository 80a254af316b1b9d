import { writeSync } from "node:fs";
import { createFrameReader, encodeFrame, MAX_FRAME_BYTES, takeFrame } from "../protocol/frames.ts";
import type { ChildFrame, FromChild, GuestSettings, ToChild } from "../protocol/messages.ts";
import { ChildRuns } from "./child-runs.ts";
import { StepClock } from "./step-clock.ts";
import { ToolIsolates } from "./tool-isolates.ts";

/**
 * The child process. Tools run in another thread, so that this one always answers the pool. When the pool's process ends,
 * the input ends and so does this process.
 */
const OUT_FD = 1;

function write(value: ChildFrame): void {
  const frame = encodeFrame(value);
  for (let at = 0; at < frame.length; ) at += writeSync(OUT_FD, frame, at);
}

function startRuns(settings: GuestSettings): ChildRuns {
  const messages: FromChild[] = [];
  let isFlushing = false;
  let reportedDone = 0;
  const flush = () => {
    isFlushing = false;
    do {
      const part = takeFrame(messages);
      if (messages.length === 0) reportedDone = runs.done;
      write({ done: reportedDone, messages: part });
    } while (messages.length > 0);
  };
  const report = (message?: FromChild) => {
    if (message !== undefined) messages.push(message);
    if (isFlushing) return;
    isFlushing = true;
    setImmediate(flush);
  };
  const clock = new StepClock(settings, (ticket, kind) => report(["stuck", ticket, kind]));
  const runs = new ChildRuns(new ToolIsolates(settings), clock, report);
  write({ done: 0, messages: [] });
  return runs;
}

let runs: ChildRuns | undefined;
const readFrames = createFrameReader(MAX_FRAME_BYTES);
process.stdin.on("data", (chunk: Buffer) => {
  for (const message of (readFrames(chunk) as ToChild[][]).flat()) {
    if (message[0] === "begin") runs = startRuns(message[1]);
    else runs?.handle(message);
  }
});
// An exit would wait for what runs in the isolates, which may have no end.
process.stdin.on("end", () => process.abort());
