import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecretBox, parseSealingKeys } from "./secret-box.ts";

const key = (version: number) => ({ version, key: randomBytes(32) });

test("[OUT] any sealed secret opens again in its own context", () => {
  const box = createSecretBox({ keys: [key(1)] });
  fc.assert(
    fc.property(fc.string(), fc.string(), (plain, context) => box.open(box.seal(plain, context), context) === plain),
  );
});

test("[OUT] a sealed secret does not open in another context", () => {
  const box = createSecretBox({ keys: [key(1)] });
  expect(() => box.open(box.seal("whsec_x", "endpoint:1"), "endpoint:2")).toThrow();
});

test("[OUT] a secret with one changed bit does not open", () => {
  const box = createSecretBox({ keys: [key(1)] });
  const sealed = box.seal("whsec_x", "c");
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => box.open(changed, "c")).toThrow();
  }
});

test("[OUT] after a new key arrives, old secrets still open and new ones use the new key", () => {
  const old = key(1);
  const sealed = createSecretBox({ keys: [old] }).seal("s", "c");
  const fresh = key(2);
  const box = createSecretBox({ keys: [old, fresh] });
  expect(box.open(sealed, "c")).toBe("s");
  expect(box.seal("s", "c")[0]).toBe(2);
  expect(() => createSecretBox({ keys: [fresh] }).open(sealed, "c")).toThrow("version 1");
});

test("sealing keys are parsed, and errors do not contain the key", () => {
  const written = `2:${randomBytes(32).toString("base64")},1:${randomBytes(32).toString("base64")}`;
  expect(parseSealingKeys(written).map((k) => k.version)).toEqual([2, 1]);
  expect(() => parseSealingKeys("2:abc$")).toThrow("sealing key 1 is not of the form");
  expect(() => createSecretBox({ keys: parseSealingKeys("1:QUJD") })).toThrow("must be 32 bytes");
});
