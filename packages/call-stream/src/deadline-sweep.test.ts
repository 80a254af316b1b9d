import { expect, test } from "vitest";
import { until } from "../test/until.ts";
import { DeadlineSweep } from "./deadline-sweep.ts";

test("a sweep expires what is due by its clock, once, and leaves the rest", () => {
  let nowMs = 0;
  const open = new Set([10, 20, 30].map((deadlineMs) => ({ deadlineMs })));
  const expired: number[] = [];
  const sweep = new DeadlineSweep(
    () => open,
    (item) => {
      open.delete(item);
      expired.push(item.deadlineMs);
    },
    () => nowMs,
  );
  for (nowMs of [9, 10, 25, 25]) sweep.sweep();
  expect(expired).toEqual([10, 20]);
  nowMs = 1000;
  sweep.sweep();
  expect(expired).toEqual([10, 20, 30]);
});

/** A sweep that counts its looks at `items`, each of which it expires. */
function looking(items: { deadlineMs: number }[]): { looks: number; sweep: DeadlineSweep<{ deadlineMs: number }> } {
  const state = {
    looks: 0,
    sweep: new DeadlineSweep(
      () => {
        state.looks += 1;
        return [...items];
      },
      (item) => items.splice(items.indexOf(item), 1),
      () => 1,
    ),
  };
  return state;
}

test("the timer looks while something is open, and stops after a look that finds nothing, until the next start", async () => {
  const idle = looking([{ deadlineMs: 0 }]);
  const busy = looking([{ deadlineMs: Number.POSITIVE_INFINITY }]);
  idle.sweep.start();
  idle.sweep.start();
  busy.sweep.start();
  await until(() => busy.looks >= 6);
  expect(idle.looks).toBe(2);
  idle.sweep.start();
  await until(() => idle.looks === 3);
  busy.sweep.stop();
});
