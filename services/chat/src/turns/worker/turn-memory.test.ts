import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTurnMemory, type HeldMemory } from "./turn-memory.ts";

const KIB = 1024;

function start() {
  const memory = createTurnMemory(1_000 * KIB);
  const started: string[] = [];
  const never = new AbortController().signal;
  /** Notes the name once the turn has the memory. */
  const add = async (turn: HeldMemory, name: string, kib: number, signal = never) => {
    await turn.add(kib * KIB, signal);
    started.push(name);
  };
  return { memory, started, add };
}

test("large turns of a workspace wait until they fit, first come first served; those of another do not", async () => {
  const { memory, started, add } = start();
  const turns = ["a", "b", "c", "d"].map(() => memory.of("noisy"));
  const [a, b, c, d] = turns as [HeldMemory, HeldMemory, HeldMemory, HeldMemory];
  const all = [add(a, "a", 600), add(b, "b", 500), add(c, "c", 100), add(d, "d", 500)];
  await add(memory.of("quiet"), "quiet", 600);
  expect(started).toEqual(["a", "quiet"]);
  a[Symbol.dispose]();
  a[Symbol.dispose]();
  await eventLoopTurn();
  expect(started.slice(2)).toEqual(["b", "c"]);
  b[Symbol.dispose]();
  await Promise.all(all);
});

test("small turns never wait, and a turn that is larger than the bound has it alone", async () => {
  const { memory, started, add } = start();
  const huge = memory.of("noisy");
  await add(huge, "huge", 5_000);
  const small = memory.of("noisy");
  for (let count = 0; count < 4; count += 1) await add(small, "small", 16);
  const grown = add(small, "grown", 1);
  await eventLoopTurn();
  expect(started).toEqual(["huge", "small", "small", "small", "small"]);
  huge[Symbol.dispose]();
  await grown;
});

test("when all turns wait for more, the oldest gets it, again and again until its end", async () => {
  const { memory, started, add } = start();
  const [old, young] = [memory.of("noisy"), memory.of("noisy")];
  await Promise.all([add(old, "old", 500), add(young, "young", 500)]);
  const growing = add(young, "young grown", 200);
  await eventLoopTurn();
  expect(started).toEqual(["old", "young"]);
  await add(old, "old grown", 200);
  await add(old, "old grown", 200);
  expect(started.slice(2)).toEqual(["old grown", "old grown"]);
  old[Symbol.dispose]();
  await growing;
});

test("a turn that is left while it waits lets those behind it pass", async () => {
  const { memory, started, add } = start();
  const [first, large, behind] = [memory.of("noisy"), memory.of("noisy"), memory.of("noisy")];
  await add(first, "first", 500);
  const left = new AbortController();
  const leaving = add(large, "large", 900, left.signal);
  const passing = add(behind, "behind", 300);
  await eventLoopTurn();
  expect(started).toEqual(["first"]);
  left.abort(new Error("left"));
  await expect(leaving).rejects.toThrow("left");
  await passing;
  await expect(add(large, "large", 1, left.signal)).rejects.toThrow("left");
});
