import { setImmediate as nextTick } from "node:timers/promises";
import { expect, test } from "vitest";
import { SMALL_TURN_BYTES } from "../../domain/turn.ts";
import { createLargeTurns } from "./large-turns.ts";

const never = new AbortController().signal;

test("a workspace has half of the places for large turns; small turns and other workspaces do not wait for it", async () => {
  const turns = createLargeTurns();
  const started: number[] = [];
  const noisy = Array.from({ length: 6 }, (_, number) => {
    const size = turns.of("noisy");
    void size.add(SMALL_TURN_BYTES + 1, never).then(() => started.push(number));
    return size;
  });
  await turns.of("noisy").add(SMALL_TURN_BYTES, never);
  await turns.of("quiet").add(SMALL_TURN_BYTES + 1, never);
  await nextTick();
  expect(started).toEqual([0, 1, 2, 3]);
  // It grows, and has its place already.
  await noisy[0]?.add(SMALL_TURN_BYTES, never);
  noisy[0]?.[Symbol.dispose]();
  noisy[1]?.[Symbol.dispose]();
  await nextTick();
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
});

test("a large turn that is left while it waits rejects with the reason", async () => {
  const turns = createLargeTurns();
  for (let number = 0; number < 4; number += 1) await turns.of("noisy").add(SMALL_TURN_BYTES + 1, never);
  const left = new AbortController();
  const waiting = turns.of("noisy").add(SMALL_TURN_BYTES + 1, left.signal);
  left.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
});
