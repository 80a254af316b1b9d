import { expect, test } from "vitest";
import { originsViolation } from "./origin.ts";

test("an origin is a scheme, a host and perhaps a port, as browsers send it", () => {
  expect(originsViolation([])).toBeUndefined();
  expect(
    originsViolation(["https://www.example.com", "http://localhost:5173", "https://[2001:db8::1]"]),
  ).toBeUndefined();
  const wrong = ["", "*", "null", "www.example.com", "https://www.example.com/", "https://WWW.example.com"];
  wrong.push("https://a.example:443", "https://a@b.example", "ftp://a.example", "file://", "javascript:alert(1)");
  for (const origin of wrong) expect([origin, originsViolation([origin])]).toEqual([origin, expect.any(String)]);
});

test("an origin is listed once, and a list has at most 20", () => {
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `https://${index}a.example`);
  expect(originsViolation(numbered(20))).toBeUndefined();
  expect(originsViolation(numbered(21))).toMatch(/at most 20/);
  expect(originsViolation(["https://a.example", "https://a.example"])).toMatch(/duplicates/);
});
