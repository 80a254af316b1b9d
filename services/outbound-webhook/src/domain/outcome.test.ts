import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_ATTEMPTS, outcomeOf } from "./outcome.ts";

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

  it("[OUT-44] [OUT-45] the waits are 1 min, 5 min, 30 min, 2 h and 12 h, and there is no seventh attempt", () => {
    const waits = [1, 2, 3, 4, 5, 6].map((number) => {
      const { retryAt } = outcomeOf(attempt(number, 503));
      return retryAt && (retryAt.getTime() - endedAt.getTime()) / 60_000;
    });
    expect(waits).toEqual([1, 5, 30, 120, 720, undefined]);
    expect(MAX_ATTEMPTS).toBe(6);
  });

  it("[OUT-47] 410 on any attempt ends the delivery", () => {
    for (const number of [1, 2, 3, 4, 5, 6]) {
      expect(outcomeOf(attempt(number, 410))).toEqual({ verdict: "failed", error: "gone" });
    }
  });

  it("[OUT-37] [OUT-38] without a response the reason comes from the worker", () => {
    expect(outcomeOf(attempt(1, 0))).toMatchObject({ verdict: "failed", error: "timeout (dns)" });
    expect(outcomeOf(attempt(1, 302))).toMatchObject({ verdict: "failed", error: "status 302" });
  });
});
