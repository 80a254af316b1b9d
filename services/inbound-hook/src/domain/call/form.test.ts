import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_FORM_FIELDS, parseForm } from "./form.ts";

const parse = (text: string) => parseForm(Buffer.from(text));

/** Applies the rules one after the other, without regard to speed. */
function parseSlowly(text: string): Record<string, string | string[]> | undefined {
  const decode = (encoded: string) => {
    const spaced = encoded.replaceAll("+", " ");
    const bytes = Buffer.from(spaced, "utf8").toString("latin1");
    const decoded = bytes.replace(/%([0-9a-fA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(decoded, "latin1"));
    } catch {
      return undefined;
    }
  };
  const fields = new Map<string, string | string[]>();
  for (const part of text.split("&").filter((part) => part !== "")) {
    const [first = "", ...others] = part.split("=");
    const [name, value] = [decode(first), decode(others.join("="))];
    if (name === undefined || value === undefined) return undefined;
    const earlier = fields.get(name);
    fields.set(name, earlier === undefined ? value : [...[earlier].flat(), value]);
  }
  return Object.fromEntries(fields);
}

test("[IN-20] any text is read as the rules say", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "&",
      "=",
      "%",
      "+",
      " ",
      "a",
      "__proto__",
      "%4",
      "%41",
      "%c3%bC",
      "%C3",
      "%FF",
      "%25",
      "%26",
      "%00",
    ),
    fc.constantFrom("ü", "🎉", "%EF%BB%BF", "\ufeff", "%g1", "%1g", "%%41", "b&b", "/", ":", "@", "`", "%:0", "%@1"),
    fc.string({ unit: "grapheme", maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");
      expect(parse(text)).toEqual(parseSlowly(text));
    }),
    { numRuns: 5_000 },
  );
});

test("[IN-20] a form has at most 1,000 fields; empty parts do not count", () => {
  const fields = (count: number) => Array.from({ length: count }, (_, n) => `f=${n}`).join("&&");
  expect(parse(fields(MAX_FORM_FIELDS))?.f).toHaveLength(1_000);
  expect(parse(`&${fields(MAX_FORM_FIELDS)}&&&`)?.f).toHaveLength(1_000);
  expect(parse(fields(MAX_FORM_FIELDS + 1))).toBeUndefined();
  expect(parse("&".repeat(262_144))).toEqual({});
});
