/** A frame is one line of JSON. */
const NEWLINE = "\n".charCodeAt(0);
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;
/** Messages are added to a frame up to this size; a larger message gets its own frame. */
export const FRAME_CHARS = 260 * 1024;
/** JSON takes at most six bytes for a character, so a message of this size always fits into a frame. */
export const MAX_MESSAGE_CHARS = 32 * 1024 * 1024;
/** The same for what a child sends: the result of a run or the arguments of a host call, at most 1 MiB each. */
export const MAX_REPORT_BYTES = 16 * 1024 * 1024;
export const MAX_REPORT_CHARS = 2.5 * 1024 * 1024;
/** A longer result of a host call is sent in parts of this size, so that no frame of one takes long to make. */
export const PART_CHARS = 128 * 1024;

export function charsOf(message: readonly unknown[]): number {
  return message.reduce<number>((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0);
}

/** Removes from the list the messages that go into the next frame, at least one. */
export function takeFrame<M extends readonly unknown[]>(messages: M[]): M[] {
  let chars = 0;
  const end = messages.findIndex((message, at) => {
    chars += charsOf(message);
    return at > 0 && chars > FRAME_CHARS;
  });
  return messages.splice(0, end < 0 ? messages.length : end);
}

export function encodeFrame(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** Splits a stream of bytes into the values of its frames. Throws when a frame is larger than `maxBytes`. */
export function createFrameReader(maxBytes: number): (chunk: Buffer) => unknown[] {
  let parts: Buffer[] = [];
  let held = 0;
  return (chunk) => {
    const frames: unknown[] = [];
    let at = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      const last = chunk.subarray(at, end);
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      frames.push(JSON.parse(line.toString()));
      parts = [];
      held = 0;
      at = end + 1;
    }
    held += chunk.length - at;
    if (held > maxBytes) throw new RangeError("A sandbox frame is too large");
    if (at < chunk.length) parts.push(chunk.subarray(at));
    return frames;
  };
}
