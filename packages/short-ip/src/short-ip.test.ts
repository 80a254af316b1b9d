import fc from "fast-check";
import { expect, test } from "vitest";
import { shortIp } from "./short-ip.ts";

test.each([
  ["203.0.113.77", "203.0.113.0"],
  ["::ffff:203.0.113.77", "203.0.113.0"],
  ["2001:db8:1234:5678:9abc:def0:1:2", "2001:db8:1234::"],
  ["::1", "::"],
  ["fe80::1%eth0", "fe80::"],
  ["", ""],
  ["unix", ""],
])("[LOG-7] [TOOL-43] %s is kept as %s", (address, short) => {
  expect(shortIp(address)).toBe(short);
});

test("[LOG-7] [TOOL-43] addresses that differ behind the kept part only look alike", () => {
  fc.assert(
    fc.property(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255), (a, b, c, d) => {
      expect(shortIp(`${a}.${b}.${c}.${d}`)).toBe(`${a}.${b}.${c}.0`);
    }),
  );
});
