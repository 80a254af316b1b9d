/**
 * What the pool and a child say to each other: JSON arrays, many to a frame, each frame preceded by its length.
 * `seq` counts the entries into isolates (starts and answers) of one child; a run is known to its child by the
 * `seq` of its start, its ticket.
 */
export type RunLimits = {
  cpuMs: number;
  resultBytes: number;
  hostCalls: number;
  hostCallsAtOnce: number;
  hostCallBytes: number;
  logLines: number;
};

export type StartMessage = ["start", number, number, string, boolean, boolean, RunLimits];

export type ToChild =
  | ["define", number, string]
  | ["forget", number]
  | StartMessage
  | ["answer", number, number, number, string]
  | ["refuse", number, number, number, string, string, string]
  | ["abandon", number];

export type FailureKind = "threw" | "cpu" | "memory" | "result-too-large" | "unserializable" | "too-many-host-calls";

export type FromChild =
  | ["ok", number, string, number]
  | ["fail", number, FailureKind, string, string, number]
  | ["call", number, number, string, string]
  | ["log", number, string]
  | ["skipped", number]
  | ["full", number]
  | ["lost", number];

/** A child's frame: the last entry that it has finished, then what happened since its frame before. */
export type ChildFrame = { done: number; messages: FromChild[] };

export const FRAME_HEAD_BYTES = 4;
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;
/** A frame takes no further message once it would hold more than this. */
export const FRAME_CHARS = 1024 * 1024;
/** JSON makes up to six bytes of one character, so a message within this always fits in a frame of its own. */
export const MAX_MESSAGE_CHARS = 32 * 1024 * 1024;

export function charsOf(message: readonly unknown[]): number {
  return message.reduce<number>((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0);
}

/** Takes from the head of the messages what goes into the next frame, one message at least. */
export function takeFrame<M extends readonly unknown[]>(messages: M[]): M[] {
  let chars = 0;
  const end = messages.findIndex((message, at) => {
    chars += charsOf(message);
    return at > 0 && chars > FRAME_CHARS;
  });
  return messages.splice(0, end < 0 ? messages.length : end);
}

export function encodeFrame(value: unknown): Buffer {
  const json = JSON.stringify(value);
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + Buffer.byteLength(json));
  frame.writeUInt32LE(frame.length - FRAME_HEAD_BYTES, 0);
  frame.write(json, FRAME_HEAD_BYTES);
  return frame;
}

/** Cuts a byte stream into frames; throws on a length that no honest peer sends. */
export function createFrameReader(): (chunk: Buffer) => unknown[] {
  let parts: Buffer[] = [];
  let held = 0;
  let needed = FRAME_HEAD_BYTES;
  return (chunk) => {
    parts.push(chunk);
    held += chunk.length;
    if (held < needed) return [];
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts);
    const frames: unknown[] = [];
    let at = 0;
    for (;;) {
      needed = FRAME_HEAD_BYTES;
      if (bytes.length - at < needed) break;
      needed += bytes.readUInt32LE(at);
      if (needed > MAX_FRAME_BYTES) throw new RangeError("A sandbox frame is too large");
      if (bytes.length - at < needed) break;
      frames.push(JSON.parse(bytes.toString("utf8", at + FRAME_HEAD_BYTES, at + needed)));
      at += needed;
    }
    held = bytes.length - at;
    parts = held > 0 ? [bytes.subarray(at)] : [];
    return frames;
  };
}
