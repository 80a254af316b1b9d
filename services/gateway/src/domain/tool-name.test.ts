import { expect, test } from "vitest";
import { loggedToolName } from "./tool-name.ts";

test("[LOG-4] the logged name has no control characters and at most 200 characters", () => {
  expect(loggedToolName("a\u0000b\nc\u007f")).toBe("abc");
  expect(loggedToolName("😀".repeat(300))).toBe("😀".repeat(200));
  expect(loggedToolName("\ud800x")).toBe("x");
});
