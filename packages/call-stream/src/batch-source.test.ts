import { expect, test } from "vitest";
import { BatchSource } from "./batch-source.ts";

function collecting(): { source: BatchSource<number[]>; push: (n: number) => void } {
  let pending: number[] = [];
  const source = new BatchSource<number[]>(() => {
    const batch = pending;
    pending = [];
    return batch.length > 0 ? batch : undefined;
  });
  return {
    source,
    push: (n) => {
      pending.push(n);
      source.announce();
    },
  };
}

test("everything announced in one turn leaves as one batch, the next turn's in another", async () => {
  const { source, push } = collecting();
  const first = source.next();
  push(1);
  await Promise.resolve();
  push(2);
  process.nextTick(() => push(3));
  expect(await first).toEqual({ done: false, value: [1, 2, 3] });
  push(4);
  expect(await source.next()).toEqual({ done: false, value: [4] });
});

test("an end is delivered after pending items, an error before them", async () => {
  const ending = collecting();
  ending.push(1);
  ending.source.end();
  expect(await ending.source.next()).toEqual({ done: false, value: [1] });
  expect(await ending.source.next()).toEqual({ done: true, value: undefined });
  const failing = collecting();
  failing.push(1);
  failing.source.fail(new Error("broken"));
  await expect(failing.source.next()).rejects.toThrow("broken");
});

test("an announcement with nothing to send sends no batch", async () => {
  const { source, push } = collecting();
  const next = source.next();
  source.announce();
  await new Promise(setImmediate);
  push(7);
  expect(await next).toEqual({ done: false, value: [7] });
});

test("a source sends nothing more once its reader has left", async () => {
  const { source, push } = collecting();
  push(1);
  await source.return();
  expect(await source.next()).toEqual({ done: true, value: undefined });
  await expect(source.throw(new Error("reader"))).rejects.toThrow("reader");
});
