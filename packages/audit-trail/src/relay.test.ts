import { expect, test } from "vitest";
import { mayFindEntries } from "./relay.ts";

const NEVER = Number.NEGATIVE_INFINITY;

test("[WMGMT] entries are looked for while this process writes some, after a failure, and every ten seconds", () => {
  const idle = { now: 50_000, nothingFoundAt: 49_000, writtenAt: NEVER };
  expect(mayFindEntries(idle)).toBe(false);
  expect(mayFindEntries({ ...idle, writtenAt: 49_500 })).toBe(true);
  // Its transaction may still have to end.
  expect(mayFindEntries({ ...idle, writtenAt: 48_500 })).toBe(true);
  expect(mayFindEntries({ ...idle, nothingFoundAt: NEVER })).toBe(true);
  expect(mayFindEntries({ ...idle, nothingFoundAt: 40_000 })).toBe(true);
});
