import fc from "fast-check";
import { expect, it } from "vitest";
import { readFormValue } from "./form-values.ts";

it.each([
  ["12", "integer", 12],
  ["-3", "integer", -3],
  ["0", "integer", 0],
  ["007", "integer", "007"],
  ["1.0", "integer", "1.0"],
  ["", "integer", ""],
  [" 1", "integer", " 1"],
  ["0x10", "integer", "0x10"],
  ["9007199254740993", "integer", "9007199254740993"],
  ["12.50", "number", 12.5],
  ["1e3", "number", 1000],
  ["33950266534704850", "number", 33950266534704850],
  ["33950266534704851", "number", "33950266534704851"],
  [".5", "number", ".5"],
  ["1,5", "number", "1,5"],
  ["1e999", "number", "1e999"],
  ["1e-999", "number", "1e-999"],
  ["0.12345678901234567890", "number", "0.12345678901234567890"],
  ["true", "boolean", true],
  ["false", "boolean", false],
  ["1", "boolean", "1"],
  ["12", "string", "12"],
  ["on", "boolean", true],
  ["[1]", "array", ["[1]"]],
])("[IN-20] the text %j for a declared %s becomes %j", (text, type, value) => {
  expect(readFormValue(text, { type })).toEqual(value);
});

it("[IN-20] an empty field is missing unless it is required or not declared", () => {
  const schema = { properties: { a: { type: "integer" }, b: { type: "string" } }, required: ["b"] };
  expect(readFormValue({ a: "", b: "", c: "" }, schema)).toEqual({ b: "", c: "" });
});

it("[IN-20] lists, objects and several types are read too; what no schema declares stays a text", () => {
  expect(readFormValue(["1", "x"], { type: "array", items: { type: "integer" } })).toEqual([1, "x"]);
  const schema = { properties: { n: { type: "integer" }, on: { type: ["boolean", "null"] } } };
  expect(readFormValue({ n: "1", on: "true", other: "1" }, schema)).toEqual({ n: 1, on: true, other: "1" });
  expect(readFormValue("1", { type: ["integer", "string"] })).toBe("1");
  expect(readFormValue("1", undefined)).toBe("1");
  expect(readFormValue("1", {})).toBe("1");
});

it("[IN-20] a converted number is the number that the text says", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.integer({ min: 0, max: 8 }), (units, places) => {
      const digits = String(units < 0n ? -units : units).padStart(places + 1, "0");
      const whole = digits.slice(0, digits.length - places);
      const text = `${units < 0n ? "-" : ""}${whole}${places > 0 ? `.${digits.slice(-places)}` : ""}`;
      const read = readFormValue(text, { type: "number" });
      // `toFixed` writes out a large double, such as 33950266534704848 for what JSON writes as 33950266534704850.
      if (typeof read === "number")
        expect([read.toFixed(places), String(read)]).toContain(read === 0 ? text.replace("-", "") : text);
      else expect(read).toBe(text);
    }),
  );
});
