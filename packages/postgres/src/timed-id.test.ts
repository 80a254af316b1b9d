import fc from "fast-check";
import { expect, it } from "vitest";
import { createdAtOf, newTimedId } from "./timed-id.ts";

it("[OUT-12] an id is a UUID that contains its creation time to the millisecond", () => {
  const times = fc.date({ min: new Date("2020-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(times, (time) => {
      expect(createdAtOf(newTimedId(time))).toEqual(time);
    }),
  );
});

it("[OUT-12] other strings are not such ids", () => {
  const others = ["", "x", "00000000-0000-0000-0000-000000000000", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"];
  expect(others.map(createdAtOf)).toEqual(others.map(() => undefined));
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(createdAtOf(text)).toBeUndefined();
    }),
  );
});
