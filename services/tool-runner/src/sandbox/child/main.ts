import { writeSync } from "node:fs";
import { createFrameReader, encodeFrame, takeFrame } from "../protocol/frames.ts";
import type { ChildFrame, FromChild, GuestSettings, ToChild } from "../protocol/messages.ts";
import { ChildRuns } from "./child-runs.ts";
import { StepClock } from "./step-clock.ts";
import { ToolIsolates } from "./tool-isolates.ts";

/**
 * The child process. Tools run in another thread, so that this one always answers the pool. When the pool's process ends,
 * the input ends and so does this process.
 */
const OUT_FD = 1;

function main(settings: GuestSettings): void {
  const messages: FromChild[] = [];
  let isFlushing = false;
  const report = (message?: FromChild) => {
    if (message !== undefined) messages.push(message);
    if (isFlushing) return;
    isFlushing = true;
    setImmediate(flush);
  };
  const clock = new StepClock(settings, (ticket, kind) => report(["stuck", ticket, kind]));
  const runs = new ChildRuns(new ToolIsolates(settings), clock, report);
  let reportedDone = 0;

  const write = (value: ChildFrame) => {
    const frame = encodeFrame(value);
    for (let at = 0; at < frame.length; ) at += writeSync(OUT_FD, frame, at);
  };
  const flush = () => {
    isFlushing = false;
    do {
      const part = takeFrame(messages);
      if (messages.length === 0) reportedDone = runs.done;
      write({ done: reportedDone, messages: part });
    } while (messages.length > 0);
  };

  const readFrames = createFrameReader();
  process.stdin.on("data", (chunk: Buffer) => {
    for (const frame of readFrames(chunk)) for (const message of frame as ToChild[]) runs.handle(message);
  });
  // An exit would wait for what runs in the isolates, which may have no end.
  process.stdin.on("end", () => process.abort());
  write({ done: 0, messages: [] });
}

main(JSON.parse(process.argv[2] ?? ""));
