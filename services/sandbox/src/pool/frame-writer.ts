import type { EngineProcess } from "../processes/engine-process.ts";
import { encodeFrame, takeFrame } from "../protocol/frames.ts";
import type { ToChild } from "../protocol/messages.ts";

/**
 * Sends messages in frames: the first before the next event, and further ones in a turn of the event loop each, so that a
 * large batch neither grows without bound nor delays everything else.
 */
export function createFrameWriter(output: Pick<EngineProcess, "write">): (message: ToChild) => void {
  const messages: ToChild[] = [];
  let isBusy = false;
  const next = () => {
    isBusy = messages.length > 0;
    if (!isBusy) return;
    output.write(encodeFrame(takeFrame(messages)), (error) => {
      // The child has ended, and its end settles its runs.
      if (!error) setImmediate(next);
    });
  };
  return (message) => {
    messages.push(message);
    if (isBusy) return;
    isBusy = true;
    process.nextTick(next);
  };
}
