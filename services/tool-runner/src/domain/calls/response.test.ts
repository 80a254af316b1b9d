import fc from "fast-check";
import { expect, test } from "vitest";
import { responseJson } from "./response.ts";

test("[TOOL-11] an object is returned unchanged, byte for byte", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const json = JSON.stringify(value);
      expect(responseJson(json)).toBe(json);
    }),
  );
  expect(responseJson(' \n\t{"a": 1.0}')).toBe(' \n\t{"a": 1.0}');
});

test("[TOOL-11] an object with success false is returned unchanged", () => {
  expect(responseJson('{"success":false,"error":"sold out"}')).toBe('{"success":false,"error":"sold out"}');
});

test("[TOOL] a text, list, number, boolean or null is wrapped as success true with the result", () => {
  const scalars = fc.oneof(fc.array(fc.jsonValue()), fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  fc.assert(
    fc.property(scalars, (value) => {
      const json = JSON.stringify(value);
      expect(JSON.parse(responseJson(json))).toEqual({ success: true, result: JSON.parse(json) });
    }),
  );
});
