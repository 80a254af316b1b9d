import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { InvalidField, withOffset } from "./fields.ts";

const ajv = new Ajv2020();
addFormats.default(ajv);
const isDateTime = ajv.compile({ type: "string", format: "date-time" });

function accepted(value: string): string | undefined {
  try {
    return withOffset(value, "received_at");
  } catch (error) {
    if (error instanceof InvalidField) return undefined;
    throw error;
  }
}

test.each([
  "2026-11-18T24:00:00+01:00",
  "2026-11-18T24:00:00Z",
  "2026-11-18T25:00:00Z",
  "2026-11-18T23:60:00Z",
  "2026-11-18T23:59:60Z",
  "2026-11-18T12:00:61Z",
  "2026-02-30T12:00:00+01:00",
  "2026-02-29T12:00:00Z",
  "2026-13-01T12:00:00Z",
  "2026-11-18T12:00:00+24:00",
  "2026-11-18T12:00:00+01:60",
  "2026-11-18T12:00:00",
  "2026-11-18T12:00:00+0100",
  "2026-11-18 12:00:00Z",
])("[EVT-34] %s is not a time with an offset", (value) => {
  expect(accepted(value)).toBeUndefined();
});

const digits = (max: number, length = 2) => fc.nat({ max }).map((number) => String(number).padStart(length, "0"));
const around = fc
  .tuple(digits(9999, 4), digits(13), digits(32), digits(25), digits(61), digits(61))
  .map(([year, month, day, hour, minute, second]) => `${year}-${month}-${day}T${hour}:${minute}:${second}`);
const zone = fc.oneof(
  fc.constant("Z"),
  fc.tuple(fc.constantFrom("+", "-"), digits(25), digits(61)).map(([sign, hour, minute]) => `${sign}${hour}:${minute}`),
);
const written = fc
  .tuple(around, fc.oneof(fc.constant(""), fc.stringMatching(/^\.[0-9]{1,9}$/)), zone)
  .map((parts) => parts.join(""));

/** For a time that is 23:59 in UTC the validator allows not only second 60, but also hour 25 or minute 61. */
const LEAP = /T(?:2[4-9]|\d\d:6|\d\d:\d\d:6)/;

test("[EVT-34] accepts exactly the times that the published schema allows, except leap seconds, and returns them with a numeric offset", () => {
  let taken = 0;
  fc.assert(
    fc.property(written, (value) => {
      const stored = accepted(value);
      expect(stored !== undefined, value).toBe(isDateTime(value) && !LEAP.test(value));
      if (stored === undefined) return;
      taken += 1;
      expect(isDateTime(stored), stored).toBe(true);
      expect(stored).toMatch(/[+-]\d\d:\d\d$/);
      expect(Date.parse(stored)).toBe(Date.parse(value));
    }),
    { numRuns: 5_000 },
  );
  expect(taken).toBeGreaterThan(500);
});
