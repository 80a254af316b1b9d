import { create } from "@bufbuild/protobuf";
import { type AttemptResult, AttemptResultSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { expect, it } from "vitest";
import { createKnownAttempts } from "./known-attempts.ts";

const FIRST = { deliveryId: "a", number: 1 };

function maker(result: AttemptResult | undefined = create(AttemptResultSchema)) {
  const calls = { made: 0 };
  const make = async () => {
    calls.made += 1;
    return result;
  };
  return { calls, make };
}

it("[OUT-57] an attempt that is handed out again is made once and has one result, before and after its end", async () => {
  const attempts = createKnownAttempts();
  const { calls, make } = maker();
  const [first, second] = await Promise.all([attempts.once(FIRST, make), attempts.once(FIRST, make)]);
  expect(second).toBe(first);
  expect(await attempts.once(FIRST, make)).toBe(first);
  expect(calls.made).toBe(1);
  await attempts.once({ ...FIRST, number: 2 }, make);
  expect(calls.made).toBe(2);
});

it("an attempt that was not made, or failed, is made when it is handed out again", async () => {
  const attempts = createKnownAttempts();
  const missed = async () => undefined;
  expect(await attempts.once(FIRST, missed)).toBeUndefined();
  await expect(attempts.once(FIRST, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  const { calls, make } = maker();
  await attempts.once(FIRST, make);
  expect(calls.made).toBe(1);
});
