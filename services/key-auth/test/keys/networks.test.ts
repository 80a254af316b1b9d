import { Code } from "@connectrpc/connect";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeOf, type RunningKeyAuth, runKeyAuth } from "../running-key-auth.ts";

const NOW = Date.parse("2026-11-21T12:00:10Z");

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ replicas: 2, now: () => NOW });
});
afterAll(() => keyAuth?.[Symbol.asyncDispose]());

test("[KEY] [ERR-10] a call from outside a key's networks is refused like an unknown key, on every replica, and not counted", async () => {
  await earlyInMinute();
  const allowedNetworks = ["203.0.113.0/24", "2001:db8::/32"];
  const { key, secret } = await keyAuth.newKey({ limit: 10, allowedNetworks });
  expect(key.allowedNetworks).toEqual(allowedNetworks);
  for (const replica of [0, 1]) {
    for (const clientIp of ["203.0.114.1", "::ffff:203.0.114.1", "2001:db9::1", "", "garbage"]) {
      expect(await keyAuth.verify(secret, { replica, clientIp })).toBeUndefined();
    }
  }
  const admitted = ["203.0.113.1", "::ffff:203.0.113.2", "::ffff:cb00:7103", "2001:db8:1::1"];
  for (const [call, clientIp] of admitted.entries()) {
    expect(await keyAuth.verify(secret, { replica: call % 2, clientIp })).toMatchObject({ remaining: 9 - call });
  }
});

test("[KEY] changed networks apply from the next call on; without networks every address is allowed", async () => {
  const who = keyAuth.as("manager");
  const { keyId, secret } = await keyAuth.newKey();
  const reaches = (clientIp: string) => keyAuth.verify(secret, { replica: 1, clientIp }).then(Boolean);
  expect(await reaches("198.51.100.1")).toBe(true);
  const networks = ["198.51.100.0/24", "::ffff:192.0.2.0/120", "198.51.100.0/24"];
  const edited = await keyAuth.keys().updateKey({ keyId, allowedNetworks: { networks } }, who);
  expect(edited.key?.allowedNetworks).toEqual(["198.51.100.0/24", "192.0.2.0/24"]);
  expect(await reaches("198.51.100.1")).toBe(true);
  expect(await reaches("192.0.2.9")).toBe(true);
  expect(await reaches("203.0.113.1")).toBe(false);
  await keyAuth.keys().updateKey({ keyId, name: "renamed" }, who);
  expect(await reaches("203.0.113.1")).toBe(false);
  await keyAuth.keys().updateKey({ keyId, allowedNetworks: { networks: [] } }, who);
  expect(await reaches("203.0.113.1")).toBe(true);
});

test("[KEY] networks with host bits, texts that are not networks, and too many networks are refused", async () => {
  const create = (allowedNetworks: string[]) => keyAuth.newKey({ allowedNetworks });
  await expect(create(["203.0.113.5/24"])).rejects.toThrow("the network is 203.0.113.0/24");
  expect(await codeOf(create(["partner.example.test"]))).toBe(Code.InvalidArgument);
  const many = Array.from({ length: 101 }, (_, index) => `10.0.${index}.0/24`);
  expect(await codeOf(create(many))).toBe(Code.InvalidArgument);
  expect(await codeOf(create(many.slice(1)))).toBeUndefined();
});
