import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createDevices, DEVICE_MS } from "./devices.ts";

const KEY = randomBytes(32);
const START = Date.parse("2026-11-22T12:00:00Z");
const at = (now: number, key = KEY) => createDevices({ keys: [{ version: 1, key }], now: () => now });

test("[MGMT] a token makes its device known to one account, for 90 days, and only under the installation's key", () => {
  const token = at(START).renew("ada", "");
  expect(at(START).find("ada", token)).toMatch(/^[0-9a-f]{32}$/);
  expect(at(START + DEVICE_MS - 1).find("ada", token)).toBeDefined();
  expect(at(START + DEVICE_MS).find("ada", token)).toBeUndefined();
  expect(at(START).find("grace", token)).toBeUndefined();
  expect(at(START, randomBytes(32)).find("ada", token)).toBeUndefined();
  expect(Buffer.from(token, "base64url").toString("latin1")).not.toContain("ada");
});

test("[MGMT] each login makes a new name, and keeps the device known to three other accounts", () => {
  const devices = at(START);
  let token = "";
  for (const account of ["a", "b", "c", "d"]) token = devices.renew(account, token);
  const names = ["a", "b", "c", "d"].map((account) => devices.find(account, token));
  expect(new Set(names).size).toBe(4);
  const renewed = devices.renew("b", token);
  expect(devices.find("b", renewed)).not.toBe(names[1]);
  expect(devices.find("a", renewed)).toBe(names[0]);
  expect(renewed).toHaveLength(token.length);
  const fifth = devices.renew("e", renewed);
  expect(fifth).toHaveLength(token.length);
  expect(["a", "b", "c", "d", "e"].filter((account) => devices.find(account, fifth))).toEqual(["b", "c", "d", "e"]);
});

test("[MGMT] no other token makes a device known, whatever it contains", () => {
  const devices = at(START);
  const token = Buffer.from(devices.renew("ada", ""), "base64url");
  const anything = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.base64String({ maxLength: 2_000 }));
  fc.assert(fc.property(anything, (text) => devices.find("ada", text) === undefined));
  const bit = fc.nat(token.length * 8 - 1);
  fc.assert(
    fc.property(bit, (position) => {
      const changed = Buffer.from(token);
      changed[position >> 3] = (changed[position >> 3] ?? 0) ^ (1 << (position & 7));
      return devices.find("ada", changed.toString("base64url")) === undefined;
    }),
  );
});
