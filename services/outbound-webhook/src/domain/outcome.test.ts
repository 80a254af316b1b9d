import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outcomeOf } from "./outcome.ts";

const endedAt = new Date("2026-11-01T00:00:00Z");
const attempt = (number: number, responseCode: number) => ({ number, responseCode, error: "timeout (dns)", endedAt });

describe("the outcome of an attempt", () => {
  it("[OUT-33] [OUT-35] every 2xx, and nothing else, is delivered", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 999 }), (number, code) => {
        const delivered = outcomeOf(attempt(number, code)).verdict === "delivered";
        expect(delivered).toBe(code >= 200 && code <= 299);
      }),
    );
  });

  it("[OUT-47] 410 to any attempt ends the delivery", () => {
    for (let number = 1; number <= 6; number += 1)
      expect(outcomeOf(attempt(number, 410))).toEqual({ verdict: "failed", error: "gone" });
  });
});
