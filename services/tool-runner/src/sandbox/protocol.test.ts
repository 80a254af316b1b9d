import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFrameReader, encodeFrame, MAX_FRAME_BYTES } from "./protocol.ts";

describe("sandbox frames", () => {
  it("[TOOL-2] frames come out as they went in, however the stream is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 40 })),
        (values, cuts) => {
          const bytes = Buffer.concat(values.map(encodeFrame));
          const read = createFrameReader();
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

  it("[TOOL-2] a length beyond the bound is refused before anything is held for it", () => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(MAX_FRAME_BYTES, 0);
    expect(() => createFrameReader()(Buffer.concat([head, Buffer.alloc(4)]))).toThrow("too large");
  });
});
