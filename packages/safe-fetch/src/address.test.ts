import fc from "fast-check";
import { expect, test } from "vitest";
import { isPublicAddress } from "./address.ts";

/** A blocked range with its first and last address, and the public addresses that it borders on. */
type Row = readonly [title: string, first: string, last: string, before: string | null, after: string | null];

const IPV4: readonly Row[] = [
  ["[SSRF-7] 127.0.0.0/8, loopback", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["[SSRF-8] 10.0.0.0/8, private", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["[SSRF-9] 172.16.0.0/12, private", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["[SSRF-10] 192.168.0.0/16, private", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["[SSRF-11] 169.254.0.0/16, link-local", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["[SSRF-12] 100.64.0.0/10, carriers", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["[SSRF-13] 0.0.0.0/8, this network", "0.0.0.0", "0.255.255.255", null, "1.0.0.0"],
  ["[SSRF-14] 224.0.0.0/4, multicast", "224.0.0.0", "239.255.255.255", "223.255.255.255", null],
  ["[SSRF-15] 240.0.0.0/4, reserved and broadcast", "240.0.0.0", "255.255.255.255", null, null],
  ["[SSRF-15] 192.0.0.0/24, protocol assignments", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["[SSRF-15] 192.0.2.0/24, documentation", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["[SSRF-15] 192.88.99.0/24, 6to4 relays", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["[SSRF-15] 198.18.0.0/15, benchmarking", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["[SSRF-15] 198.51.100.0/24, documentation", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["[SSRF-15] 203.0.113.0/24, documentation", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["[SSRF-15] 168.63.129.16, cloud platform", "168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
];

const FFFF = ":ffff".repeat(5);
const IPV6: readonly Row[] = [
  ["[SSRF-16] ::1, loopback", "::1", "0:0:0:0:0:0:0:1", null, null],
  ["[SSRF-15] ::, unspecified", "::", "0:0:0:0:0:0:0:0", null, null],
  ["[SSRF-17] fc00::/7, unique local", "fc00::", `fdff:ffff:ffff${FFFF}`, null, null],
  ["[SSRF-18] fe80::/10, link-local", "fe80::", `febf:ffff:ffff${FFFF}`, null, null],
  ["[SSRF-15] fec0::/10, site-local", "fec0::", `feff:ffff:ffff${FFFF}`, null, null],
  ["[SSRF-14] ff00::/8, multicast", "ff00::", `ffff:ffff:ffff${FFFF}`, null, null],
  ["[SSRF-15] 100::/64, discard", "100::", "100::ffff:ffff:ffff:ffff", null, null],
  ["[SSRF-15] 0000::/3, all below 2000::", "::", `1fff:ffff:ffff${FFFF}`, null, "2000::"],
  ["[SSRF-15] 4000::/2 and above", "4000::", `ffff:ffff:ffff${FFFF}`, `3fff:ffff:ffff${FFFF}`, null],
  [
    "[SSRF-15] 2001::/23, Teredo and other protocols",
    "2001::",
    `2001:1ff:ffff${FFFF}`,
    `2000:ffff:ffff${FFFF}`,
    "2001:200::",
  ],
  [
    "[SSRF-15] 2001:db8::/32, documentation",
    "2001:db8::",
    `2001:db8:ffff${FFFF}`,
    `2001:db7:ffff${FFFF}`,
    "2001:db9::",
  ],
  ["[SSRF-15] 2002::/16, 6to4", "2002::", `2002:ffff:ffff${FFFF}`, `2001:ffff:ffff${FFFF}`, "2003::"],
  ["[SSRF-15] 3fff::/20, documentation", "3fff::", `3fff:fff:ffff${FFFF}`, `3ffe:ffff:ffff${FFFF}`, "3fff:1000::"],
  ["[SSRF-19] 64:ff9b::/96, NAT64", "64:ff9b::", "64:ff9b::ffff:ffff", null, null],
  ["[SSRF-19] 64:ff9b:1::/48, local NAT64", "64:ff9b:1::", `64:ff9b:1${FFFF}`, null, null],
  ["[SSRF-19] ::/96, IPv4-compatible", "::", "::ffff:ffff", null, null],
  ["[SSRF-19] ::ffff:0:0:0/96, IPv4-translated", "::ffff:0:0:0", "::ffff:0:ffff:ffff", null, null],
];

const toNumber = (ip: string) => ip.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
const toQuad = (value: number) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
const toHextets = (ip: string) => {
  const value = toNumber(ip);
  return `${Math.floor(value / 65_536).toString(16)}:${(value % 65_536).toString(16)}`;
};

const classify = (ip: string) => (isPublicAddress(ip) ? "public" : "blocked");
const classesOf = (...forms: string[]) => forms.map((form) => [form, classify(form)]);
const all = (kind: string, ...forms: string[]) => forms.map((form) => [form, kind]);
const isText = (text: string | null) => text !== null;

test.each(IPV4)("%s: every address is blocked, its neighbours are not", (_title, first, last, before, after) => {
  const check = (value: number) => {
    expect(classesOf(toQuad(value))).toEqual(all("blocked", toQuad(value)));
  };
  check(toNumber(first));
  check(toNumber(last));
  fc.assert(fc.property(fc.integer({ min: toNumber(first), max: toNumber(last) }), check));
  const outside = [before, after].filter(isText);
  expect(outside.map(toNumber)).toEqual(
    [before && toNumber(first) - 1, after && toNumber(last) + 1].filter((value) => typeof value === "number"),
  );
  expect(classesOf(...outside)).toEqual(all("public", ...outside));
});

test.each(IPV4)(
  "[SSRF-19] %s: blocked as mapped address too, its neighbours are not",
  (_title, first, last, before, after) => {
    const forms = (ip: string) => [`::ffff:${ip}`, `::FFFF:${toHextets(ip)}`, `0:0:0:0:0:ffff:${ip}`];
    const check = (value: number) => {
      const written = [...forms(toQuad(value)), `::${toQuad(value)}`, `64:ff9b::${toQuad(value)}`];
      expect(classesOf(...written)).toEqual(all("blocked", ...written));
    };
    check(toNumber(first));
    check(toNumber(last));
    fc.assert(fc.property(fc.integer({ min: toNumber(first), max: toNumber(last) }), check));
    const outside = [before, after].filter(isText).flatMap(forms);
    expect(classesOf(...outside)).toEqual(all("public", ...outside));
  },
);

test.each(IPV6)(
  "%s: first and last address are blocked, its neighbours are not",
  (_title, first, last, before, after) => {
    expect(classesOf(first, last)).toEqual(all("blocked", first, last));
    const outside = [before, after].filter(isText);
    expect(classesOf(...outside)).toEqual(all("public", ...outside));
  },
);

test("[SSRF] IPv4 outside the blocked ranges is public", () => {
  const inside = (value: number) => IPV4.some(([, first, last]) => value >= toNumber(first) && value <= toNumber(last));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffffff }), (value) => {
      expect(classify(toQuad(value))).toBe(inside(value) ? "blocked" : "public");
    }),
  );
});

test.each([
  ["[SSRF-18] link-local with a zone", "fe80::1%eth0"],
  ["[SSRF] a public address with a zone", "2606:4700::1111%eth0"],
  ["[SSRF] NAT64 of a public address", "64:ff9b::8.8.8.8"],
  ["[SSRF] 6to4 of a public address", "2002:808:808::1"],
  ["[SSRF] IPv4-compatible form of a public address", "::8.8.8.8"],
  ["[SSRF] IPv4-translated form of loopback", "::ffff:0:127.0.0.1"],
])("%s is blocked: %s", (_title, ip) => {
  expect(classify(ip)).toBe("blocked");
});

test.each(["8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001:82b::200e", "::ffff:8.8.8.8", "::ffff:808:808"])(
  "[SSRF] %s is public",
  (ip) => {
    expect(classify(ip)).toBe("public");
  },
);

test.each([
  "",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0x7f.0.0.1",
  "127.1",
  "127.0.1",
  "08.8.8.8",
  "8.8.8.08",
  "8.8.8.8.",
  " 8.8.8.8",
  "8.8.8.8 ",
  "8.8.8.8/32",
  "8.8.8.256",
  "[2606:4700::1111]",
  "2606:4700:::1111",
  "1:2:3:4:5:6:7:8:9",
  "example.com",
  "８.８.８.８",
])("[SSRF] what is not one plain address is blocked: %j", (text) => {
  expect(classify(text)).toBe("blocked");
});

test("[SSRF] classifying arbitrary text never throws", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string({ unit: fc.constantFrom(..."0123456789abcdefx:.%"), maxLength: 40 }),
      ),
      (text) => {
        expect(["public", "blocked"]).toContain(classify(text));
      },
    ),
  );
});

test("[SSRF] IPv6 is public inside 2000::/3 only", () => {
  const hextet = fc.integer({ min: 0, max: 0xffff });
  const edge = fc.constantFrom(0, 0x1ff, 0x200, 0xdb7, 0xdb8, 0xdb9, 0xfff, 0x1000, 0x8000, 0xffff);
  const known = fc.constantFrom(0x1fff, 0x2000, 0x2001, 0x2002, 0x2003, 0x3ffe, 0x3fff, 0x4000, 0xfc00, 0xfe80);
  const anyHead = fc.tuple(fc.oneof(known, hextet), fc.oneof(edge, hextet));
  fc.assert(
    fc.property(anyHead, fc.array(hextet, { minLength: 6, maxLength: 6 }), (first, rest) => {
      const parts = [...first, ...rest];
      const head = parts[0] ?? 0;
      fc.pre(parts.slice(0, 5).some((part) => part !== 0));
      const ip = parts.map((part) => part.toString(16)).join(":");
      const reserved =
        head === 0x2002 ||
        (head === 0x2001 && ((parts[1] ?? 0) < 0x200 || parts[1] === 0xdb8)) ||
        (head === 0x3fff && (parts[1] ?? 0) < 0x1000);
      expect(classify(ip)).toBe(head >> 13 === 1 && !reserved ? "public" : "blocked");
    }),
  );
});
