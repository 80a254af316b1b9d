import { expect, test } from "vitest";
import { eventually } from "./eventually.ts";

const QUICK = { deadlineMs: 2_000, everyMs: 1 };

test("returns once the check neither throws nor is false", async () => {
  let asked = 0;
  const result = await eventually(() => {
    asked += 1;
    if (asked === 1) throw new Error("not yet");
    return asked > 2 && "there";
  }, QUICK);
  expect([result, asked]).toEqual(["there", 3]);
});

test("takes a check with expectations, which returns nothing", async () => {
  await eventually(() => expect(1).toBe(1), QUICK);
});

test("fails with the last error of the check, or says that it stayed false", async () => {
  const patience = { deadlineMs: 5, everyMs: 1 };
  await expect(eventually(() => Promise.reject(new Error("the reason")), patience)).rejects.toThrow("the reason");
  await expect(eventually(() => false, patience)).rejects.toThrow("the condition was still false after 5 ms");
});
