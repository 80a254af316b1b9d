import { expect, test } from "vitest";
import type { Format } from "../hook.ts";
import { identify } from "./replay-keys.ts";

type Headers = Record<string, string | string[]>;

function identityOf(format: Format, headers: Headers, call: { body?: string; signedAt?: number; value?: object } = {}) {
  const { body = "{}", signedAt, value = {} } = call;
  const sent = new Map(Object.entries(headers).map(([name, values]) => [name, [values].flat()]));
  const identity = identify({
    format,
    headers: sent,
    body: Buffer.from(body),
    signedAt,
    value: value as Record<string, unknown>,
  });
  return { ...identity, keys: identity.keys.map((key) => key.toString("hex")) };
}

test("[AUTH-4] [AUTH-5] native: time and body make one key, the delivery header another", () => {
  const first = identityOf("native", { "x-service-delivery": "d1" }, { signedAt: 1, body: '{"a":1}' });
  const fresh = identityOf("native", { "x-service-delivery": "d1" }, { signedAt: 2, body: '{"a":1}' });
  const other = identityOf("native", { "x-service-delivery": "d2" }, { signedAt: 1, body: '{"a":1}' });
  expect(first).toMatchObject({ externalId: "d1", keys: [expect.any(String), expect.any(String)] });
  expect(fresh.keys[0]).not.toBe(first.keys[0]);
  expect(fresh.keys[1]).toBe(first.keys[1]);
  expect(other.keys[0]).toBe(first.keys[0]);
  expect(identityOf("native", {}, { signedAt: 1, body: '{"a":1}' })).toEqual({
    externalId: null,
    keys: [first.keys[0]],
  });
  expect(identityOf("native", {}, { signedAt: 11, body: "0" }).keys).not.toEqual(
    identityOf("native", {}, { signedAt: 1, body: "10" }).keys,
  );
});

test("[AUTH-9] [AUTH-10] processor: a string named id in the body is the event's id; any other value is not", () => {
  const call = { signedAt: 1, value: { id: "evt_1" } };
  expect(identityOf("processor", {}, call)).toMatchObject({ externalId: "evt_1", keys: { length: 2 } });
  for (const value of [{}, { id: 1 }, { id: ["evt_1"] }, { id: "" }, { id: null }, { data: { id: "evt_1" } }]) {
    expect(identityOf("processor", {}, { signedAt: 1, value })).toMatchObject({
      externalId: null,
      keys: { length: 1 },
    });
  }
});

test("[AUTH-13] shop: only the body counts", () => {
  const first = identityOf("shop", { "x-request-id": "1" }, { body: "a" });
  expect(first).toMatchObject({ externalId: null, keys: { length: 1 } });
  expect(identityOf("shop", { "x-request-id": "2" }, { body: "a" })).toEqual(first);
  expect(identityOf("shop", {}, { body: "b" }).keys).not.toEqual(first.keys);
});

test("[AUTH-15] [AUTH-16] [AUTH-17] bearer: the first id that was sent counts, whatever the header", () => {
  const ids = { "idempotency-key": "a", "x-delivery-id": "b", "x-request-id": "c" };
  expect(identityOf("bearer", ids).externalId).toBe("a");
  expect(identityOf("bearer", { ...ids, "idempotency-key": "" }).externalId).toBe("b");
  expect(identityOf("bearer", { "x-request-id": "c" }).externalId).toBe("c");
  expect(identityOf("bearer", ids).keys).toEqual(identityOf("bearer", { "idempotency-key": "a" }).keys);
});

test("[AUTH-18] bearer without an id has no key, so that every call is new", () => {
  expect(identityOf("bearer", {})).toEqual({ externalId: null, keys: [] });
});

test("[AUTH] github and standard webhooks: the provider's id counts; without it GitHub's body", () => {
  expect(identityOf("github", { "x-github-delivery": "g" })).toMatchObject({ externalId: "g", keys: { length: 1 } });
  expect(identityOf("github", {}, { body: "a" })).toEqual(identityOf("shop", {}, { body: "a" }));
  const standard = (id: string, time: string, body: string) =>
    identityOf("standard_webhooks", { "webhook-id": id, "webhook-timestamp": time }, { body });
  const first = standard("m", "1", "a");
  expect(first).toMatchObject({ externalId: "m", keys: { length: 2 } });
  expect(standard("m", "2", "other").keys).toEqual([expect.not.stringMatching(first.keys[0] ?? ""), first.keys[1]]);
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
