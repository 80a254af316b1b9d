import { testClock } from "@toolgate/testbed/test-clock";
import { expect, test } from "vitest";
import { createNeighbours } from "./neighbours.ts";

test("a workspace has neighbours until a second after their last work", async () => {
  const clock = testClock();
  const neighbours = createNeighbours(clock);
  expect(neighbours.has("noisy")).toBe(false);
  neighbours.note("quiet");
  await clock.pass(500);
  expect(neighbours.has("quiet")).toBe(false);
  neighbours.note("noisy");
  neighbours.note("noisy");
  expect(neighbours.has("quiet")).toBe(true);
  await clock.pass(499);
  expect(neighbours.has("noisy")).toBe(true);
  await clock.pass(1);
  expect(neighbours.has("noisy")).toBe(false);
  expect(neighbours.has("quiet")).toBe(true);
});

test("a workspace has no neighbours when they were there long ago", async () => {
  const clock = testClock();
  const neighbours = createNeighbours(clock);
  neighbours.note("quiet");
  await clock.pass(3_600_000);
  neighbours.note("noisy");
  expect(neighbours.has("noisy")).toBe(false);
});

test("a workspace has neighbours while three others take turns", () => {
  const neighbours = createNeighbours(testClock());
  for (const workspace of ["a", "b", "c", "noisy", "c"]) neighbours.note(workspace);
  expect(["a", "b", "c", "noisy", "d"].map((workspace) => neighbours.has(workspace))).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
});
