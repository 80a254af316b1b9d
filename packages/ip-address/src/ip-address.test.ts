import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalIp, networkOf, parseIp, shortIp } from "./ip-address.ts";

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

test("[LOG-7] [TOOL-43] addresses that differ only after the part that is stored are stored alike", () => {
  fc.assert(
    fc.property(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255), (a, b, c, d) => {
      expect(shortIp(`${a}.${b}.${c}.${d}`)).toBe(`${a}.${b}.${c}.0`);
    }),
  );
});

test("[LOG] an address has one form, however it was written", () => {
  expect(canonicalIp("::ffff:203.0.113.9")).toBe("203.0.113.9");
  expect(canonicalIp("2001:DB8:0:0::1")).toBe("2001:db8::1");
  expect(canonicalIp("fe80::1%eth0")).toBe("fe80::1");
  expect(canonicalIp("not an address")).toBe("");
});

test("[IN] the addresses of an IPv6 /64 are one client, and so is an IPv4 address", () => {
  expect(networkOf("2001:db8:0:1:ffff:ffff:ffff:ffff")).toBe(networkOf("2001:db8:0:1::"));
  expect(networkOf("2001:db8:0:2::1")).not.toBe(networkOf("2001:db8:0:1::"));
  expect(networkOf("192.0.2.1")).toBe("192.0.2.1");
});

test("[SSRF-19] every IPv6 form has the same bytes as the URL parser's canonical form", () => {
  const quad = fc
    .tuple(...Array.from({ length: 4 }, () => fc.integer({ min: 0, max: 255 })))
    .map((octets) => octets.join("."));
  const form = fc.oneof(
    fc.ipV6(),
    fc
      .tuple(fc.constantFrom("::", "1::", "::ffff:", "2001:db8::", "1:2:3:4:5:6:", "0:0:0:0:0:0:"), quad)
      .map((pair) => pair.join("")),
  );
  fc.assert(
    fc.property(form, (ip) => {
      const canonical = new URL(`http://[${ip}]/`).hostname.slice(1, -1);
      expect(parseIp(ip)?.toByteArray()).toEqual(parseIp(canonical)?.toByteArray());
    }),
  );
});
