import { expect, test } from "vitest";
import { indentJson } from "./indent-json.ts";

test("[WMGMT] JSON is indented as JSON.stringify does, but keeps each digit and escape", () => {
  for (const value of [{}, [], { a: [], b: {}, c: [1, 'x: {y}, [z]\\"', null] }, [[{ a: { b: [1] } }]]]) {
    expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    expect(indentJson(JSON.stringify(value, null, 7))).toBe(JSON.stringify(value, null, 2));
  }
  const exact = '{"id":12345678901234567890,"price":1.10,"name":"\\u00e9","__proto__":1}';
  expect(indentJson(exact).replaceAll(/\n| {2}|(?<=:) /g, "")).toBe(exact);
});

test("[WMGMT] text that is not a JSON object or array stays as it is", () => {
  for (const text of ["a=1&b={", '{"a":', "12", "<b>{}</b>", ""]) expect(indentJson(text)).toBe(text);
});
