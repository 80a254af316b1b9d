import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_ARGUMENT_LEVELS, parseCallBody, responseJson } from "./call-body.ts";

const parse = (text: string) => parseCallBody(Buffer.from(text));

function argsOf(text: string): Record<string, unknown> {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  return parsed.args;
}

function ruleOf(body: string | Uint8Array): string {
  const parsed = typeof body === "string" ? parse(body) : parseCallBody(body);
  if (parsed.ok) throw new Error("was accepted");
  expect(parsed.violations).toHaveLength(1);
  const [violation] = parsed.violations;
  expect(violation).toEqual({ field: "", rule: expect.any(String), message: expect.any(String) });
  return violation?.rule ?? "";
}

const names = fc.string().filter((name) => name !== "__proto__");

test("[TOOL-9] [TOOL-10] the member args is what the tool receives, other members are ignored", () => {
  fc.assert(
    fc.property(fc.dictionary(names, fc.integer()), fc.jsonValue(), (args, other) => {
      expect(argsOf(JSON.stringify({ args, other, read_only: false }))).toEqual(args);
    }),
  );
});

test("[TOOL] an empty body and a body without args are calls without arguments", () => {
  for (const text of ["", "{}", '{"other":1}', '{"__proto__":{"args":{"a":1}}}']) expect(argsOf(text)).toEqual({});
});

test.each(["null", "[]", '"text"'])("[TOOL-9] the body %s, and args like that, are refused", (value) => {
  expect([ruleOf(value), ruleOf(`{"args":${value}}`)]).toEqual(["type", "type"]);
});

test.each([" ", '{"args":{}}x', '{"args":{"a":NaN}}', "\u0000"])("[TOOL] the body %j is not JSON", (body) => {
  expect(ruleOf(body)).toBe("json");
});

test("[TOOL] bytes that are not UTF-8, and a byte order mark, are refused", () => {
  const around = (bytes: number[]) =>
    Buffer.concat([Buffer.from('{"args":{"a":"'), Buffer.from(bytes), Buffer.from('"}}')]);
  for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
    expect(ruleOf(around(bytes))).toBe("encoding");
  }
  expect(ruleOf(Buffer.from("\ufeff{}"))).toBe("encoding");
  expect(ruleOf(Buffer.from("{}", "utf16le"))).toBe("json");
});

const nested = (levels: number) => `{"args":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`;
const listed = (levels: number) => `{"args":{"a":${"[".repeat(levels - 1)}1${"]".repeat(levels - 1)}}}`;

test("[TOOL] arguments are nested at most 64 levels deep", () => {
  for (const text of [nested, listed]) {
    expect(Object.keys(argsOf(text(MAX_ARGUMENT_LEVELS)))).toEqual(["a"]);
    expect(ruleOf(text(MAX_ARGUMENT_LEVELS + 1))).toBe("depth");
    expect(ruleOf(text(100_000))).toBe("depth");
  }
});

test("[TOOL] __proto__ is removed at every depth, also when it is escaped", () => {
  const text = `{"args":{"__proto__":{"admin":1},"a":[{"\\u005f_proto__":{"admin":1},"b":{"__proto__":null,"c":1}}]}}`;
  const args = argsOf(text);
  expect(JSON.stringify(args)).toBe('{"a":[{"b":{"c":1}}]}');
  expect(args.admin).toBeUndefined();
  expect((args.a as { admin?: number }[])[0]?.admin).toBeUndefined();
});

test("[TOOL] no body makes the parser throw", () => {
  const outcome = (bytes: Uint8Array) => {
    expect(typeof parseCallBody(bytes).ok).toBe("boolean");
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), outcome), { numRuns: 500 });
  const almostJson = fc.stringMatching(/^[{}[\]",:\\u0-9a-f_protos ]{0,60}$/);
  fc.assert(
    fc.property(almostJson, (text) => outcome(Buffer.from(text))),
    { numRuns: 500 },
  );
  outcome(Buffer.alloc(1_000_000, "["));
});

test("[TOOL] a body inside a larger buffer is read without the rest of it", () => {
  const around = Buffer.from('xx{"args":{"a":1}}yy');
  expect(parseCallBody(around.subarray(2, -2))).toEqual({ ok: true, args: { a: 1 } });
});

test("[TOOL-11] an object is returned unchanged, byte for byte", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const json = JSON.stringify(value);
      expect(responseJson(json)).toBe(json);
    }),
  );
  expect(responseJson(' \n\t{"a": 1.0}')).toBe(' \n\t{"a": 1.0}');
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
