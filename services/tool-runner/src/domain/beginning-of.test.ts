import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { beginningOf } from "./beginning-of.ts";

/** Longer ones would be outside the heap. */
const TEXT_CHARS = 512 * 1024;
const TEXTS = 64;

/** After a garbage collection. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

test("the beginning of a text is well-formed, and the text itself if it is short", () => {
  expect(beginningOf("short", 5)).toBe("short");
  expect(beginningOf("longer", 5)).toBe("longe");
  expect(beginningOf("1234😀", 5)).toBe("1234\uFFFD");
});

test("the beginnings of long texts do not keep the texts in memory", () => {
  const before = heapBytes();
  const longText = () => Buffer.alloc(TEXT_CHARS, "x").toString("latin1");
  const kept = Array.from({ length: TEXTS }, () => beginningOf(longText(), 2_000));
  expect(heapBytes() - before).toBeLessThan((TEXTS * TEXT_CHARS) / 4);
  expect(kept).toHaveLength(TEXTS);
});
