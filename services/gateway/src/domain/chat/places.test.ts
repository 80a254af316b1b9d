import { expect, test } from "vitest";
import { Places } from "./places.ts";

test("[CHAT] a user has 20 places, and giving one back twice frees one", () => {
  const places = new Places();
  const taken = Array.from({ length: 20 }, () => places.take("ann", "acme"));
  expect(taken).not.toContain(undefined);
  expect(places.take("ann", "other")).toBeUndefined();
  const leaveBob = places.take("bob", "acme");
  expect(leaveBob).toBeDefined();
  taken[0]?.();
  taken[0]?.();
  taken[0] = places.take("ann", "acme");
  expect(taken[0]).toBeDefined();
  expect(places.take("ann", "acme")).toBeUndefined();
  leaveBob?.();
  for (const leave of taken) leave?.();
  expect(places.size).toBe(0);
});

test("[CHAT] the users of a workspace have 2,000 places", () => {
  const places = new Places();
  for (let place = 0; place < 2_000; place += 1) expect(places.take(`u${place % 100}`, "acme")).toBeDefined();
  expect(places.take("new", "acme")).toBeUndefined();
  expect(places.take("new", "other")).toBeDefined();
});
