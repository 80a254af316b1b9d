import { expect, test } from "vitest";
import { processesThatFit } from "./limits.ts";

const MIB = 1024 * 1024;

test.each([
  [32, 8_192 * MIB, 32],
  [512, 8_192 * MIB, 204],
  [512, 10 * MIB, 1],
])("[TOOL-2] of %i processes, memory of %i bytes has room for %i", (max, memoryBytes, expected) => {
  expect(processesThatFit(max, memoryBytes)).toBe(expected);
});
