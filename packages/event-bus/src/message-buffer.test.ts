import { expect, test } from "vitest";
import { MessageBuffer } from "./message-buffer.ts";

/** Far longer than any test. */
const LONG_MS = 600_000;

test("what waits is taken immediately when its time has come", async () => {
  const buffer = new MessageBuffer<number>(3);
  expect(buffer.put(1)).toBeUndefined();
  expect(buffer.put(2)).toBeUndefined();
  expect(await buffer.take()).toEqual([1, 2]);
});

test("before its time it is taken only once the buffer is full, or closed", async () => {
  const buffer = new MessageBuffer<number>(3);
  let taken: number[] | undefined;
  const taking = buffer.take(performance.now() + LONG_MS).then((items) => {
    taken = items;
  });
  for (const item of [1, 2]) expect(buffer.put(item)).toBeUndefined();
  await new Promise(setImmediate);
  expect(taken).toBeUndefined();
  const room = buffer.put(3);
  await taking;
  expect(taken).toEqual([1, 2, 3]);
  await room;

  const last = buffer.take(performance.now() + LONG_MS);
  expect(buffer.put(4)).toBeUndefined();
  buffer.close();
  expect(await last).toEqual([4]);
  expect(await buffer.take(performance.now() + LONG_MS)).toEqual([]);
});
