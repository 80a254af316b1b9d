import { expect, test } from "vitest";
import { shownError } from "./error-text.ts";

test("[EVT] an error is shown without its stack and at most 2000 characters long", () => {
  expect(shownError("no stock\n    at run (tool.js:3:7)\n    at main")).toBe("no stock");
  expect(shownError("no stock\n\n\tat run\n\tat main")).toBe("no stock");
  expect(shownError("look at\nthis")).toBe("look at\nthis");
  expect(shownError("x".repeat(3_000))).toHaveLength(2_000);
  expect(shownError(`${"x".repeat(1_999)}😀`)).toBe(`${"x".repeat(1_999)}\uFFFD`);
});

test("[EVT] a text of many empty lines takes no longer than any other text of its length", () => {
  // If every line were a new start, this would take minutes.
  const blanks = "\n".repeat(350_000) + " ".repeat(300_000);
  expect(shownError(blanks)).toBe("\n".repeat(2_000));
  expect(shownError(`no stock${blanks}`)).toHaveLength(2_000);
});
