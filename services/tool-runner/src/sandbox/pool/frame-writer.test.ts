import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createFrameReader, FRAME_CHARS } from "../protocol/frames.ts";
import type { ToChild } from "../protocol/messages.ts";
import { createFrameWriter } from "./frame-writer.ts";

const define = (id: number, chars: number): ToChild => ["define", id, "x".repeat(chars)];

test("[TOOL-2] a batch is sent in order and frame by frame, and reading a large batch counts as progress", async () => {
  const done = Promise.withResolvers<void>();
  const read = createFrameReader();
  const frames: ToChild[][] = [];
  const heldAtRead: number[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, taken) => {
      frames.push(...(read(chunk) as ToChild[][]));
      if (frames.flat().length === 5) done.resolve();
      setImmediate(taken);
    },
  });
  const send = createFrameWriter(output, () => {
    heldAtRead.push(frames.flat().length);
  });
  for (const [id, chars] of [10, FRAME_CHARS - 100, 200, 6 * FRAME_CHARS, 10].entries()) send(define(id, chars));
  await done.promise;
  expect(frames.map((frame) => frame.map(([, id]) => id))).toEqual([[0, 1], [2], [3], [4]]);
  expect(heldAtRead[0]).toBe(3);
});
