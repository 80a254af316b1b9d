import { expect, test } from "vitest";
import { rateLimitFields, secondsUntilReset } from "./responses.ts";

test("[LIMIT-4] [LIMIT-5] [LIMIT-6] the required fields and those of the IETF draft agree", () => {
  expect(rateLimitFields({ limit: 60, remaining: 59, resetAt: 1_800_000_060n }, 1_800_000_018_250)).toEqual({
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "59",
    "x-ratelimit-reset": "1800000060",
    "ratelimit-policy": '"minute";q=60;w=60',
    ratelimit: '"minute";r=59;t=42',
  });
});

test("[LIMIT-7] the wait is 1 to 60 seconds, even if the clock runs ahead or behind", () => {
  expect(secondsUntilReset({ resetAt: 60n }, 59_999)).toBe(1);
  expect(secondsUntilReset({ resetAt: 60n }, 61_000)).toBe(1);
  expect(secondsUntilReset({ resetAt: 60n }, 0)).toBe(60);
  expect(secondsUntilReset({ resetAt: 120n }, 0)).toBe(60);
});
