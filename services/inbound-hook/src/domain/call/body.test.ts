import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_FORM_FIELDS, parseBody } from "./body.ts";

const FORM = "application/x-www-form-urlencoded";
const parse = (text: string | Uint8Array, type = "application/json", encoding = "") =>
  parseBody(Buffer.from(text as string), type, encoding);
const json = (text: string | Uint8Array) => parse(text);
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;

describe("JSON", () => {
  test("[IN-19] an object is taken as it is, under any type but a form's", () => {
    const value = { a: 1, b: [{ c: null }], ü: "🎉" };
    for (const type of [
      "application/json",
      "",
      "text/plain",
      "application/cloudevents+json; charset=utf-8",
      "x",
      ";",
    ]) {
      expect(parse(JSON.stringify(value), type)).toEqual({ ok: true, value, isForm: false });
    }
  });

  test.each(["", " ", '"x"', "null", '{"a":1}x', '{"a":NaN}', Buffer.from('{"a":"\xed\xa0\x80"}', "latin1")])(
    "[IN-25] %j is not a JSON object",
    (text) => {
      expect(json(text)).toMatchObject({ ok: false });
    },
  );

  test("[IN-25] [IN-19] if a member occurs twice, the last one counts, and __proto__ is a member like any other", () => {
    expect(json('{"a":1,"b":2,"a":3}')).toEqual({ ok: true, value: { b: 2, a: 3 }, isForm: false });
    const parsed = json('{"__proto__":{"polluted":true}}');
    expect(parsed.ok && Object.hasOwn(parsed.value, "__proto__")).toBe(true);
    expect(parsed.ok && parsed.value.polluted).toBe(undefined);
  });

  test("[IN-25] 63 levels pass and 64 do not, in objects and in arrays", () => {
    expect(json(nested(63)).ok).toBe(true);
    expect(json(nested(64)).ok).toBe(false);
    expect(json(`{"a":${"[".repeat(63)}${"]".repeat(63)}}`).ok).toBe(false);
    expect(json(`{"a":${"[".repeat(131_000)}${"]".repeat(131_000)}}`).ok).toBe(false);
  });
});

describe("forms", () => {
  const form = (text: string | Uint8Array, type = FORM) => parse(text, type);
  const fields = (text: string) => {
    const parsed = form(text);
    return parsed.ok && parsed.isForm && parsed.value;
  };

  test("[IN-20] fields are strings, and a name that occurs several times is a list", () => {
    expect(fields("a=1&b=x+y%21&a=2&c&=e&a=3&&d=%C3%BC")).toEqual({
      a: ["1", "2", "3"],
      b: "x y!",
      c: "",
      "": "e",
      d: "ü",
    });
    expect(fields('payload={"a":1}')).toEqual({ payload: '{"a":1}' });
    expect(fields("a=1=2&b=%2B%26%3D")).toEqual({ a: "1=2", b: "+&=" });
    expect(fields("__proto__=x&__proto__=y")).toEqual(JSON.parse('{"__proto__":["x","y"]}'));
  });

  test("[IN-20] the type is recognised in any case and with parameters", () => {
    for (const type of [FORM, FORM.toUpperCase(), `${FORM};charset=UTF-8`, ` ${FORM} ; x=y`]) {
      expect(form("a=1", type)).toEqual({ ok: true, value: { a: "1" }, isForm: true });
    }
    expect(form("a=1", `${FORM}x`)).toMatchObject({ ok: false });
  });

  test("[IN-25] [IN-20] an empty form is an empty object, and one that is not UTF-8 is refused", () => {
    expect(fields("")).toEqual({});
    for (const bad of [Buffer.from("a=\xff", "latin1"), "a=%FF", "%ED%A0%80=1", "a=%C3"]) {
      expect(form(bad)).toMatchObject({ ok: false });
    }
    expect(fields("a=100%&b=%zz&c=%4")).toEqual({ a: "100%", b: "%zz", c: "%4" });
  });

  test("[IN-20] a form has at most 1,000 fields; empty parts do not count", () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `f=${n}`).join("&&");
    expect(fields(`&${many(MAX_FORM_FIELDS)}&&&`)).toEqual({ f: expect.objectContaining({ length: 1_000 }) });
    expect(fields(many(MAX_FORM_FIELDS + 1))).toBe(false);
    expect(fields("&".repeat(262_144))).toEqual({});
  });

  test("[IN-20] what URLSearchParams writes is read back", () => {
    const text = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
        const params = new URLSearchParams(pairs);
        const expected = Object.fromEntries(
          [...new Set(params.keys())].map((name) => {
            const values = params.getAll(name);
            return [name, values.length === 1 ? values[0] : values];
          }),
        );
        expect(fields(params.toString())).toEqual(expected);
      }),
    );
  });
});

test("[IN-25] no bytes under any type make parsing fail", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.oneof(fc.string(), fc.constant(FORM)), fc.string(), (bytes, type, encoding) => {
      const parsed = parseBody(bytes, type, encoding);
      if (parsed.ok) expect(typeof parsed.value).toBe("object");
    }),
  );
});
