import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { newServiceKey, readIdentity } from "./service-keys.ts";
import { createCallerReader, createServiceTokens } from "./service-token.ts";

const start = Date.now();

async function outcome(reading: Promise<unknown>): Promise<string> {
  return reading.then(String, (error) => Code[ConnectError.from(error).code] ?? "?");
}

/** What a service reads from its environment, and what it does with it. */
function gatewayWith(serviceKey: string, now = () => start) {
  const key = readIdentity({ SERVICE_KEY: serviceKey }, "gateway").serviceKey;
  if (!key) throw new Error("no key");
  return createServiceTokens("gateway", key, now);
}
function chatKnowing(publicKeys: readonly string[], now = () => start) {
  const own = newServiceKey();
  const list = [`chat:${own.publicKey}`, ...publicKeys.map((key) => `gateway:${key}`)].join(", ");
  const identity = readIdentity({ SERVICE_KEY: own.serviceKey, SERVICE_PUBLIC_KEYS: list }, "chat");
  return createCallerReader("chat", identity.publicKeys, now);
}

test("a token proves its caller to the service that it is for, and to no other", async () => {
  const { serviceKey, publicKey } = newServiceKey();
  const token = await gatewayWith(serviceKey)("chat");
  expect(await outcome(chatKnowing([publicKey]).read(token))).toBe("gateway");
  const elsewhere = await gatewayWith(serviceKey)("key-auth");
  expect(await outcome(chatKnowing([publicKey]).read(elsewhere))).toBe("Unauthenticated");
});

test("a token is signed and verified once for many calls, renewed in time, and ends after a minute", async () => {
  let nowMs = start;
  const { serviceKey, publicKey } = newServiceKey();
  const tokens = gatewayWith(serviceKey, () => nowMs);
  const reader = chatKnowing([publicKey], () => nowMs);
  const first = await tokens("chat");
  await reader.read(first);
  nowMs += 29_000;
  expect(await tokens("chat")).toBe(first);
  expect(reader.known(first)).toBe("gateway");
  nowMs += 2_000;
  expect(await tokens("chat")).not.toBe(first);
  nowMs += 40_000;
  expect(await outcome(reader.read(first))).toBe("Unauthenticated");
});

test("a service gets another key without a call being refused, in the order that the operators' page describes", async () => {
  const [old, fresh] = [newServiceKey(), newServiceKey()];
  const [before, after] = [gatewayWith(old.serviceKey), gatewayWith(fresh.serviceKey)];
  const reads = async (publicKeys: string[]) =>
    Promise.all([before, after].map(async (tokens) => outcome(chatKnowing(publicKeys).read(await tokens("chat")))));
  expect(await reads([old.publicKey])).toEqual(["gateway", "Unauthenticated"]);
  expect(await reads([old.publicKey, fresh.publicKey])).toEqual(["gateway", "gateway"]);
  expect(await reads([fresh.publicKey])).toEqual(["Unauthenticated", "gateway"]);
});
