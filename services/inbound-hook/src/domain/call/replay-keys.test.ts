import { expect, test } from "vitest";
import type { Format } from "../hook.ts";
import { identify } from "./replay-keys.ts";

type Headers = Record<string, string | string[]>;

function identityOf(format: Format, headers: Headers, call: { body?: string; signedAt?: number; value?: object } = {}) {
  const { body = "{}", signedAt, value = {} } = call;
  const sent = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => ({ name, value })));
  const identity = identify({
    format,
    headers: sent,
    body: Buffer.from(body),
    signedAt,
    value: value as Record<string, unknown>,
  });
  return { ...identity, keys: identity.keys.map((key) => key.toString("hex")) };
}

test("[AUTH-4] native: time and body make one key, however their digits could be split", () => {
  const keysOf = (signedAt: number, body: string) => identityOf("native", {}, { signedAt, body }).keys;
  expect(keysOf(1, "10")).toEqual(keysOf(1, "10"));
  expect(keysOf(11, "0")).not.toEqual(keysOf(1, "10"));
});

test("[AUTH] standard webhooks: the signed text is a key, however it is split into id, time and body", () => {
  const standard = (id: string, time: string, body: string) =>
    identityOf("standard_webhooks", { "webhook-id": id, "webhook-timestamp": time }, { body }).keys[0];
  expect(standard("m", "1", "2.a=b")).toBe(standard("m.1", "2", "a=b"));
  expect(standard("m", "1", "2.a=c")).not.toBe(standard("m.1", "2", "a=b"));
});

test("[IN-11] the id is kept up to 255 characters; a longer one is hashed, and stays distinct", () => {
  const id = (text: string) => identityOf("bearer", { "x-delivery-id": text });
  expect(id("🎉".repeat(255)).externalId).toBe("🎉".repeat(255));
  const [long, other] = [id("x".repeat(256)), id("x".repeat(257))];
  expect(long.externalId).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(other.externalId).not.toBe(long.externalId);
  expect(other.keys).not.toEqual(long.keys);
});

test("[IN-11] an id that PostgreSQL could not store is changed for the log only", () => {
  const [nul, surrogate] = ["a\0b", "a\ud800b"].map((id) =>
    identityOf("processor", {}, { signedAt: 1, value: { id } }),
  );
  expect([nul?.externalId, surrogate?.externalId]).toEqual(["a\ufffdb", "a\ufffdb"]);
  expect(nul?.keys[1]).not.toBe(surrogate?.keys[1]);
});
