import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { currentRequestId, outsideRequest, runForRequest } from "./request.ts";
import { isRequestId, newRequestId } from "./request-id.ts";

test("new request ids are valid and differ", () => {
  const ids = Array.from({ length: 1_000 }, newRequestId);
  expect(ids.every(isRequestId)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a request id is 1 to 128 letters, digits, dots, hyphens and underscores", () => {
  for (const id of ["a", "0.A_z-9", "x".repeat(128)]) expect(isRequestId(id)).toBe(true);
  for (const id of ["", "x".repeat(129), "a b", "a\n", "é", 'a"', "a/b"]) expect(isRequestId(id)).toBe(false);
});

test("concurrent work keeps its own request", async () => {
  const work = (requestId: string) =>
    runForRequest({ requestId }, async () => {
      await turn();
      return currentRequestId();
    });
  expect(await Promise.all([work("one"), work("two")])).toEqual(["one", "two"]);
  expect(currentRequestId()).toBe("");
});

test("work outside of a request, and what it starts, has no request id", async () => {
  const ids = await runForRequest({ requestId: "one" }, async () => {
    const outside = await outsideRequest(async () => {
      await turn();
      return currentRequestId();
    });
    return [outside, currentRequestId()];
  });
  expect(ids).toEqual(["", "one"]);
});
