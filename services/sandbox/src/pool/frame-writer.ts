import type { EngineProcess } from "../processes/engine-process.ts";
import { encodeFrame, takeFrame } from "../protocol/frames.ts";
import type { ToChild } from "../protocol/messages.ts";

const CHUNK_BYTES = 256 * 1024;
/** More than fits into the pipe, so what follows without a pause is written only while the child reads. */
const PIPE_BYTES = 1024 * 1024;

/**
 * Sends messages in frames: the first before the next event, and further ones in a turn of the event loop each, so that a
 * large batch neither grows without bound nor delays everything else. `onRead` is called while the child reads a large batch.
 */
export function createFrameWriter(
  output: Pick<EngineProcess, "write">,
  onRead: () => void,
): (message: ToChild) => void {
  const messages: ToChild[] = [];
  let busy = false;
  let writtenBytes = 0;

  const writeFrom = (frame: Buffer, at: number) => {
    const end = at + CHUNK_BYTES;
    const chunk = frame.subarray(at, end);
    output.write(chunk, (error) => {
      // The child has ended, and its end settles its runs.
      if (error) return;
      if (writtenBytes >= PIPE_BYTES) onRead();
      writtenBytes += chunk.length;
      if (end < frame.length) writeFrom(frame, end);
      else setImmediate(next);
    });
  };
  const next = () => {
    busy = messages.length > 0;
    if (busy) writeFrom(encodeFrame(takeFrame(messages)), 0);
  };
  return (message) => {
    messages.push(message);
    if (busy) return;
    busy = true;
    writtenBytes = 0;
    process.nextTick(next);
  };
}
