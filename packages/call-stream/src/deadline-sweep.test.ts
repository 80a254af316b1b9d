import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { DeadlineSweep } from "./deadline-sweep.ts";

test("a sweep expires due items once, and leaves the rest", () => {
  const open = new Set([10, 20, 30].map((deadlineMs) => ({ deadlineMs })));
  const expired: number[] = [];
  const sweep = new DeadlineSweep(
    () => open,
    (item) => {
      open.delete(item);
      expired.push(item.deadlineMs);
    },
  );
  for (const nowMs of [9, 10, 25, 25]) sweep.sweep(nowMs);
  expect(expired).toEqual([10, 20]);
  sweep.sweep(1000);
  expect(expired).toEqual([10, 20, 30]);
});

/** A sweep that counts its checks of `items`, each of which it expires. */
function counting(items: { deadlineMs: number }[]): { checks: number; sweep: DeadlineSweep<{ deadlineMs: number }> } {
  const state = {
    checks: 0,
    sweep: new DeadlineSweep(
      () => {
        state.checks += 1;
        return [...items];
      },
      (item) => items.splice(items.indexOf(item), 1),
    ),
  };
  return state;
}

test("the timer runs while something is open, and stops after a check that finds nothing, until the next start", async () => {
  const idle = counting([{ deadlineMs: 0 }]);
  const busy = counting([{ deadlineMs: Number.POSITIVE_INFINITY }]);
  idle.sweep.start();
  idle.sweep.start();
  busy.sweep.start();
  await eventually(() => busy.checks >= 6);
  expect(idle.checks).toBe(2);
  idle.sweep.start();
  await eventually(() => idle.checks === 3);
  busy.sweep.stop();
});
