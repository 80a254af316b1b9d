const HEAD_BYTES = 4;
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;
/** Messages are added to a frame up to this size; a larger message has a frame of its own. */
export const FRAME_CHARS = 1024 * 1024;
/** JSON takes at most six bytes for a character, so a message of this size always fits into a frame. */
export const MAX_MESSAGE_CHARS = 32 * 1024 * 1024;

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

/** A frame is the length of its JSON in four bytes, and the JSON. */
export function encodeFrame(value: unknown): Buffer {
  const json = JSON.stringify(value);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + Buffer.byteLength(json));
  frame.writeUInt32LE(frame.length - HEAD_BYTES, 0);
  frame.write(json, HEAD_BYTES);
  return frame;
}

/** Splits a stream of bytes into the values of its frames. Throws when a frame is too large. */
export function createFrameReader(): (chunk: Buffer) => unknown[] {
  let parts: Buffer[] = [];
  let held = 0;
  let needed = HEAD_BYTES;
  return (chunk) => {
    parts.push(chunk);
    held += chunk.length;
    if (held < needed) return [];
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts);
    const frames: unknown[] = [];
    let at = 0;
    for (;;) {
      needed = HEAD_BYTES;
      if (bytes.length - at < needed) break;
      needed += bytes.readUInt32LE(at);
      if (needed > MAX_FRAME_BYTES) throw new RangeError("A sandbox frame is too large");
      if (bytes.length - at < needed) break;
      frames.push(JSON.parse(bytes.toString("utf8", at + HEAD_BYTES, at + needed)));
      at += needed;
    }
    held = bytes.length - at;
    parts = held > 0 ? [bytes.subarray(at)] : [];
    return frames;
  };
}
