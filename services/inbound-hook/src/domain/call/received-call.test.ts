import { expect, test } from "vitest";
import { isLoop as isLoopOf } from "./received-call.ts";

const isLoop = (values: readonly string[]) =>
  isLoopOf({ headers: values.map((value) => ({ name: "x-service-hop", value })) });

test("[LOOP-3] the largest number decides, over repeated headers and lists", () => {
  for (const headers of [["2"], ["3"], ["002"], [" 2 "], ["2, 2"], ["1, 2"], ["1", "2"], ["x, 7"], ["9".repeat(400)]]) {
    expect(isLoop(headers)).toBe(true);
  }
});

test("[LOOP-3] anything that is not a number counts as missing", () => {
  for (const header of ["", "0", "1", "-2", "+2", "2.0", "2 2", "0x2", "1e9", "two", "２", "1, 1", ",", "2;q=1"]) {
    expect(isLoop([header])).toBe(false);
  }
  expect(isLoop([])).toBe(false);
});
