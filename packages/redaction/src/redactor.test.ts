import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor } from "./redactor.ts";

const WORDS = [
  "password",
  "passwd",
  "pwd",
  "secret",
  "token",
  "api_key",
  "authorization",
  "iban",
  "credential",
  "private_key",
  "cookie",
  "bic",
  "card_number",
  "cvv",
];

const redact = createRedactor();

test("[EVT-31] names with an underscore can be kept; the secrets among them are still replaced", () => {
  const keep = createRedactor({ underscored: "keep" });
  const value = JSON.parse('{"_id":1,"__proto__":{"a":1},"_token":"t","n":{"_pwd":"p","_x":[]}}');
  expect(JSON.stringify(keep(value))).toBe(
    '{"_id":1,"__proto__":{"a":1},"_token":"[entfernt]","n":{"_pwd":"[entfernt]","_x":[]}}',
  );
  expect(redact(value)).toEqual({ n: {} });
});

/** As a JSON parser returns it: without -0. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test.each(WORDS)("[EVT-31] the value of %s is replaced, in every spelling and inside longer names", (word) => {
  const camel = word.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  for (const name of [word, word.toUpperCase(), word.replaceAll("_", "-"), camel, `old-${word}`, `${word}_2`]) {
    expect(redact({ [name]: "x", other: 1 })).toEqual({ [name]: "[entfernt]", other: 1 });
  }
});

test("[EVT-31] names that count tokens keep their number, but nothing else", () => {
  const counts = { max_tokens: 10, prompt_tokens: 0, token_count: 3, maxTokens: 5 };
  expect(redact(counts)).toEqual(counts);
  expect(redact({ access_tokens: ["x"], refresh_tokens: "x", secret_tokens: 1, api_key_token_count: 1 })).toEqual({
    access_tokens: "[entfernt]",
    refresh_tokens: "[entfernt]",
    secret_tokens: "[entfernt]",
    api_key_token_count: "[entfernt]",
  });
});

test("[EVT-32] names with a leading underscore are removed with their values, also secret-looking ones", () => {
  expect(redact({ _api_key: { id: 1 }, _client: 1, _webhook: {}, _x: 1, x_: 2 })).toEqual({ x_: 2 });
});

test("[EVT-32] __proto__ is removed and sets nothing", () => {
  const redacted = redact(JSON.parse('{"__proto__":{"admin":true},"a":{"__proto__":{"admin":true}}}'));
  expect(JSON.stringify(redacted)).toBe('{"a":{}}');
  expect((redacted as { admin?: boolean }).admin).toBeUndefined();
});

test("[EVT-31] [EVT-32] no secret and no underscored name survives, everything else does, and the input is not changed", () => {
  const name = fc.oneof(fc.constantFrom("a", "id", "_x", "password", "constructor", "toString"), fc.string());
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 0 }), fc.array(tie("value")), tie("object")),
    object: fc.dictionary(name, tie("value")),
  }));
  fc.assert(
    fc.property(value.map(asJson), (given) => {
      const before = JSON.stringify(given);
      expectRedacted(redact(given), JSON.parse(before));
      expect(JSON.stringify(given)).toBe(before);
    }),
  );
});

const LOOKS_SECRET =
  /password|passwd|pwd|secret|token|apikey|authorization|iban|credential|privatekey|cookie|bic|cardnumber|cvv/;

function expectRedacted(redacted: unknown, given: unknown): void {
  if (typeof given !== "object" || given === null) {
    expect(redacted).toBe(given);
    return;
  }
  if (Array.isArray(given)) {
    for (const [i, item] of given.entries()) expectRedacted((redacted as unknown[])[i], item);
    return;
  }
  const kept = Object.entries(given).filter(([name]) => !name.startsWith("_"));
  expect(Object.keys(redacted as object)).toEqual(kept.map(([name]) => name));
  for (const [name, member] of kept) {
    const found = (redacted as Record<string, unknown>)[name];
    if (LOOKS_SECRET.test(name.toLowerCase().replace(/[_\-.\s]/g, ""))) expect(found).toBe("[entfernt]");
    else expectRedacted(found, member);
  }
}

test("[EVT-31] a value that is nested too deeply is removed", () => {
  let deep: unknown = { password: "x" };
  for (let i = 0; i < 50_000; i += 1) deep = { a: deep };
  expect(JSON.stringify(redact(deep))).toMatch(/^\{.*"\[entfernt\]"\}+$/);
});

test("[EVT-31] names are recognised correctly even when there are more than fit in the cache", () => {
  const own = createRedactor();
  for (let i = 0; i < 25_000; i += 1) own({ [`name${i}`]: 1 });
  expect(own({ password: "x", name1: 1, _x: 1 })).toEqual({ password: "[entfernt]", name1: 1 });
});
