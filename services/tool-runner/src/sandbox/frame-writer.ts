import type { Writable } from "node:stream";
import { encodeFrame, type ToChild, takeFrame } from "./protocol.ts";

const CHUNK_BYTES = 256 * 1024;
/** More than the channel itself holds: what comes after it in a frame goes out only as the child reads. */
const CHANNEL_BYTES = 1024 * 1024;

/**
 * Sends messages in frames, one at a time with a turn of the event loop between, so that a large batch neither grows
 * without bound nor holds up everybody else. `onRead` is told while the child reads a large frame.
 */
export function createFrameWriter(output: Writable, onRead: () => void): (message: ToChild) => void {
  const messages: ToChild[] = [];
  let busy = false;

  const writeFrom = (frame: Buffer, at: number) => {
    const end = at + CHUNK_BYTES;
    output.write(frame.subarray(at, end), (error) => {
      // The child has ended, and what it had in hand is dealt with by its end.
      if (error) return;
      if (at >= CHANNEL_BYTES) onRead();
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
    setImmediate(next);
  };
}
