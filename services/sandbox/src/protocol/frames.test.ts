import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  charsOf,
  createFrameReader,
  encodeFrame,
  FRAME_CHARS,
  MAX_FRAME_BYTES,
  MAX_MESSAGE_CHARS,
  MAX_REPORT_BYTES,
  MAX_REPORT_CHARS,
  takeFrame,
} from "./frames.ts";

describe("sandbox frames", () => {
  it("[TOOL-2] frames are read as they were written, wherever the stream is split", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 40 })),
        (values, cuts) => {
          const bytes = Buffer.concat(values.map(encodeFrame));
          const read = createFrameReader(MAX_FRAME_BYTES);
          const found: unknown[] = [];
          let at = 0;
          for (const cut of cuts) {
            found.push(...read(bytes.subarray(at, at + cut)));
            at = Math.min(bytes.length, at + cut);
          }
          found.push(...read(bytes.subarray(at)));
          expect(found).toEqual(values.map((value) => JSON.parse(JSON.stringify(value))));
        },
      ),
    );
  });

  it("[TOOL-2] a frame that exceeds the bound is refused", () => {
    const read = createFrameReader(MAX_FRAME_BYTES);
    const chunk = Buffer.alloc(MAX_FRAME_BYTES / 8, "x");
    for (let sent = 0; sent < MAX_FRAME_BYTES; sent += chunk.length) expect(read(chunk)).toEqual([]);
    expect(() => read(chunk)).toThrow("too large");
  });
});

describe("what goes into one frame", () => {
  it("[TOOL-2] frames keep every message and its order, and only a large message makes a large frame", () => {
    const message = fc.tuple(
      fc.constant("log" as const),
      fc.nat(),
      fc.constantFrom(0, 10, FRAME_CHARS / 2, FRAME_CHARS),
    );
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), (sizes) => {
        const messages = sizes.map(([kind, n, chars]) => [kind, n, "x".repeat(chars)] as const);
        const left = [...messages];
        const frames: (typeof messages)[] = [];
        while (left.length > 0) frames.push(takeFrame(left));
        expect(frames.flat()).toEqual(messages);
        for (const frame of frames) {
          const chars = frame.reduce((sum, each) => sum + charsOf(each), 0);
          expect(frame.length === 1 || chars <= FRAME_CHARS).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    [MAX_MESSAGE_CHARS, MAX_FRAME_BYTES],
    [MAX_REPORT_CHARS, MAX_REPORT_BYTES],
  ])("[TOOL-2] a message of %i characters fits in a frame of %i bytes, with any characters", (chars, bytes) => {
    const message = ["log", 1, "\u0001".repeat(chars - 3)];
    expect(charsOf(message)).toBe(chars);
    expect(encodeFrame({ done: Number.MAX_SAFE_INTEGER, messages: [message] }).length).toBeLessThan(bytes);
  });
});
