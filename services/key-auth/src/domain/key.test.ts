import { expect, test } from "vitest";
import { endOfDay } from "./key.ts";

test("[KEY-6] a key that expires on a date is valid until the end of that day in UTC", () => {
  expect(endOfDay("2026-02-28")?.toISOString()).toBe("2026-03-01T00:00:00.000Z");
  expect(endOfDay("9999-12-31")?.toISOString()).toBe("9999-12-31T23:59:59.999Z");
  for (const wrong of [
    "0000-01-01",
    "1969-12-31",
    "2026-02-30",
    "2026-13-01",
    "26-01-01",
    "2026-1-1",
    "",
    "2026-01-01T00:00:00Z",
  ]) {
    expect(endOfDay(wrong)).toBeUndefined();
  }
});
