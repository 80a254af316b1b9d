import { expect, test } from "vitest";
import { fillIn, hasStrayOpening, namesIn, wholeName } from "./template.ts";

test("[TOOL] placeholders are found in order, with and without spaces", () => {
  expect(namesIn("a {{x}} b {{ y-1 }}{{x}} {z} {{}} {{a b}}")).toEqual(["x", "y-1", "x"]);
});

test("[TOOL] only a text that is exactly one placeholder becomes the value itself", () => {
  expect(wholeName("{{ x }}")).toBe("x");
  for (const text of ["{{x}} ", "{{x}}{{y}}", "x", "", "{{x}}\n"]) expect(wholeName(text)).toBeUndefined();
});

test("[TOOL] filled-in text is neither a template nor a replacement pattern", () => {
  const values: Record<string, string> = { a: "{{b}}", b: "$& $1 {{a}}" };
  expect(fillIn("{{a}} {{b}}", (name) => values[name] ?? "")).toBe("{{b}} $& $1 {{a}}");
});

test("[TOOL] braces that do not start a placeholder are found", () => {
  for (const text of ["{{", "a {{b", "{{a b}}", "{{}}", "{{{{a}}}}"]) expect(hasStrayOpening(text)).toBe(true);
  for (const text of ["{{a}}", "{a}", "}}", "{{{a}}{", "{{a}}{{b}}"]) expect(hasStrayOpening(text)).toBe(false);
});
