import { expect, it } from "vitest";
import { ExpectedSubscriptions } from "./expected-subscriptions.ts";

it("[FAIR] what a workspace's events cost is known after its first ones, and a few cheap ones do not hide it", () => {
  const expected = new ExpectedSubscriptions();
  expect(expected.of("w")).toBe(4);
  expected.note("w", 10, 200);
  expect(expected.of("w")).toBe(20);
  expected.note("w", 1, 0);
  expect(expected.of("w")).toBe(19);
  for (let events = 0; events < 30; events += 1) expected.note("w", 1, 2);
  expect(expected.of("w")).toBe(2);
  expected.note("w", 3, 4);
  expect(expected.of("w")).toBe(2);
  expected.note("w", 1, 0);
  expect(expected.of("w")).toBe(1);
});

it("only the workspaces whose events came last are remembered", () => {
  const expected = new ExpectedSubscriptions();
  for (let workspace = 0; workspace <= 10_000; workspace += 1) expected.note(`w-${workspace}`, 1, 9);
  expect([expected.of("w-0"), expected.of("w-1"), expected.of("w-10000")]).toEqual([4, 9, 9]);
});
