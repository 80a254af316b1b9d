import { expect, test } from "vitest";
import { AnswerSlots } from "./answer-slots.ts";

test("[CHAT] a user has 20 slots, and giving one back twice frees one", () => {
  const slots = new AnswerSlots();
  const taken = Array.from({ length: 20 }, () => slots.take("ann", "acme"));
  expect(taken).not.toContain(undefined);
  expect(slots.take("ann", "other")).toBeUndefined();
  const leaveBob = slots.take("bob", "acme");
  expect(leaveBob).toBeDefined();
  taken[0]?.();
  taken[0]?.();
  taken[0] = slots.take("ann", "acme");
  expect(taken[0]).toBeDefined();
  expect(slots.take("ann", "acme")).toBeUndefined();
  leaveBob?.();
  for (const leave of taken) leave?.();
  expect(slots.size).toBe(0);
});

test("[CHAT] the users of a workspace have 2,000 slots", () => {
  const slots = new AnswerSlots();
  for (let slot = 0; slot < 2_000; slot += 1) expect(slots.take(`u${slot % 100}`, "acme")).toBeDefined();
  expect(slots.take("new", "acme")).toBeUndefined();
  expect(slots.take("new", "other")).toBeDefined();
});
