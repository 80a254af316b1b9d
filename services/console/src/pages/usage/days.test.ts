import { expect, test } from "vitest";
import { lastDays } from "./days.ts";

test("the days end with today in UTC", () => {
  expect(lastDays(3, new Date("2026-03-01T23:59:59Z"))).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
});
