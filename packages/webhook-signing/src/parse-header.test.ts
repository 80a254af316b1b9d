import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_SIGNATURE_HEADER_CHARS, parseSignatureHeader } from "./parse-header.ts";

test("[AUTH] reads t and every v1 in any order, ignoring unknown parts", () => {
  expect(parseSignatureHeader("v0=x,v1=ab,scheme,t=007,v1=CD,other=1=2")).toEqual({
    unixTime: 7,
    timeText: "007",
    v1: ["ab", "CD"],
  });
});

test.each([
  ["empty", ""],
  ["without t", "v1=ab"],
  ["without v1", "t=1"],
  ["several t", "t=1,t=1,v1=ab"],
  ["empty t", "t=,v1=ab"],
  ["negative t", "t=-1,v1=ab"],
  ["signed t", "t=+1,v1=ab"],
  ["fractional t", "t=1.0,v1=ab"],
  ["exponent t", "t=1e3,v1=ab"],
  ["hexadecimal t", "t=0x1,v1=ab"],
  ["Arabic-Indic digits in t", "t=١,v1=ab"],
  ["t beyond safe integers", "t=99999999999999999,v1=ab"],
  ["another letter case", "T=1,V1=ab"],
  ["too long", `t=1,v1=${"a".repeat(MAX_SIGNATURE_HEADER_CHARS)}`],
])("[AUTH] a header that is %s is malformed", (_name, header) => {
  expect(parseSignatureHeader(header)).toBeUndefined();
});

test("[AUTH] a header of exactly the longest length is read", () => {
  const header = `t=1,v1=${"a".repeat(MAX_SIGNATURE_HEADER_CHARS - 7)}`;
  expect(header.length).toBe(MAX_SIGNATURE_HEADER_CHARS);
  expect(parseSignatureHeader(header)).toBeDefined();
});

test("[AUTH] the parser never throws, and what it accepts has an integer time and a v1", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .tuple(fc.constantFrom("t", "v1", "v0", " t", ""), fc.oneof(fc.nat().map(String), fc.string()))
      .map((pair) => pair.join("=")),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const parsed = parseSignatureHeader(parts.join(","));
      if (!parsed) return;
      expect(Number.isSafeInteger(parsed.unixTime) && parsed.unixTime >= 0).toBe(true);
      expect(parsed.v1.length).toBeGreaterThan(0);
    }),
  );
});
