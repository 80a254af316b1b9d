import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { responseText } from "./response-text.ts";

describe("the text of a response", () => {
  it("[OUT-13] is always text that the database can store, of at most 1000 characters", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 9_000 }), (body) => {
        const text = responseText(body);
        expect(Array.from(text).length).toBeLessThanOrEqual(1_000);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toContain("\0");
      }),
    );
  });
});
