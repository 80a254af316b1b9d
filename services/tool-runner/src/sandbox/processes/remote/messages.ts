/**
 * What tool-runner and a sandbox process send each other: messages with a kind and a body, on one connection per child.
 * The connection begins as a request over HTTP for an upgrade to this protocol, with the token. When either side ends
 * it, the child ends.
 */
export const PROTOCOL = "toolgate-sandbox-2";

export const TO_SANDBOX = {
  /** The guest's settings as JSON; the first message. */
  spawn: 1,
  /** For the child's input. */
  data: 2,
  kill: 3,
  /** Every second, in both directions. */
  ping: 7,
} as const;

export const FROM_SANDBOX = {
  /** From the child's output. */
  data: 1,
  /** The child has read this many more bytes (a whole number). */
  written: 2,
  /** How the child ended, as JSON; the last message. */
  end: 3,
  /** The sandbox process is about to stop: the child should get no more runs. */
  draining: 4,
  ping: 7,
} as const;

export const PING_MS = 1_000;
/** A connection is given up after this many pings without a sign of life. */
export const MAX_SILENT_PINGS = 5;
/** Bytes on their way to a child that it has not read. */
export const WINDOW_BYTES = 256 * 1024;

const HEAD_BYTES = 5;
const MAX_BODY_BYTES = 1024 * 1024;

export function encodeHead(kind: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32LE(length, 0);
  head.writeUInt8(kind, HEAD_BYTES - 1);
  return head;
}

export function wholeNumber(value: number): Buffer {
  const body = Buffer.allocUnsafe(4);
  body.writeUInt32LE(value, 0);
  return body;
}

/** Splits a stream of bytes into messages. Throws when one is too large. */
export function createMessageReader(onMessage: (kind: number, body: Buffer) => void): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** How many bytes complete the next message, as far as known. */
  let needed = HEAD_BYTES;
  return (chunk) => {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < needed) return;
    const bytes = held.length === 1 ? chunk : Buffer.concat(held);
    let at = 0;
    needed = HEAD_BYTES;
    while (bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUInt32LE(at);
      if (length > MAX_BODY_BYTES) throw new RangeError("A message of the sandbox is too large");
      needed = HEAD_BYTES + length;
      if (bytes.length - at < needed) break;
      onMessage(bytes.readUInt8(at + HEAD_BYTES - 1), bytes.subarray(at + HEAD_BYTES, at + needed));
      at += needed;
      needed = HEAD_BYTES;
    }
    held = at === bytes.length ? [] : [bytes.subarray(at)];
    heldBytes = bytes.length - at;
  };
}
