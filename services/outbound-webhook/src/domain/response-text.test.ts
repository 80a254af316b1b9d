import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { responseText } from "./response-text.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("the text of a response", () => {
  it("[OUT-13] is its first 1000 characters, not bytes and not halves of characters", () => {
    expect(responseText(bytes("ä".repeat(2_000)))).toBe("ä".repeat(1_000));
    expect(responseText(bytes("😀".repeat(2_000)))).toBe("😀".repeat(1_000));
    expect(responseText(bytes("short"))).toBe("short");
  });

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
