import { expect, test } from "vitest";
import { createHookSlots } from "./hook-slots.ts";

test("[IN] [FAIR] a hook has a bounded number of calls in progress, and another hook is not affected", () => {
  const slots = createHookSlots(2);
  const [first, second] = [slots.take("hk_a"), slots.take("hk_a")];
  expect([first, second]).not.toContain(undefined);
  expect(slots.take("hk_a")).toBeUndefined();
  expect(slots.take("hk_b")).toBeDefined();
  first?.[Symbol.dispose]();
  expect(slots.take("hk_a")).toBeDefined();
  expect(slots.take("hk_a")).toBeUndefined();
});
