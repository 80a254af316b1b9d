import fc from "fast-check";
import { expect, test } from "vitest";
import { formatNetwork, isInNetworks, type Network, parseNetwork } from "./network.ts";

const network = (text: string) => parseNetwork(text) as Network;

test.each([
  ["203.0.113.0/24", "203.0.113.0/24"],
  ["203.0.113.7", "203.0.113.7/32"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  [" 2001:DB8:0:0:1::/80 ", "2001:db8:0:0:1::/80"],
  ["2001:db8::1", "2001:db8::1/128"],
  ["::/0", "::/0"],
  ["1:0:0:2:0:0:0:3", "1:0:0:2::3/128"],
  ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
  ["::ffff:192.0.2.1", "192.0.2.1/32"],
])("[KEY] the network %s is kept as %s", (text, kept) => {
  expect(formatNetwork(network(text))).toBe(kept);
});

test.each([
  "",
  "/24",
  "10.0.0.0/",
  "10.0.0.0/33",
  "10.0.0.0/08",
  "10.0.0/8",
  "::/129",
  "example.test",
  "fe80::1%eth0",
  "10.0.0.0/8/8",
  "::ffff:10.0.0.0/95",
])("[KEY] %j is refused as a network", (text) => {
  expect(parseNetwork(text)).toHaveProperty("fault");
});

test("[KEY] host bits are refused, and the network that was meant is named", () => {
  expect(parseNetwork("203.0.113.5/24")).toEqual({
    fault: "has bits set after the prefix; the network is 203.0.113.0/24",
  });
  expect(parseNetwork("2001:db8::1/33")).toMatchObject({ fault: expect.stringContaining("2001:db8::/33") });
});

const octets = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => [...bytes]);

test("[KEY] an IPv4 network admits exactly the addresses that share its prefix, mapped ones too", () => {
  fc.assert(
    fc.property(octets, octets, fc.nat(32), (ofNetwork, ofAddress, prefixBits) => {
      const number = (bytes: number[]) => bytes.reduce((sum, byte) => sum * 256 + byte, 0);
      const size = 2 ** (32 - prefixBits);
      const start = Math.floor(number(ofNetwork) / size) * size;
      const dotted = [24, 16, 8, 0].map((shift) => Math.floor(start / 2 ** shift) % 256).join(".");
      const networks = [network(`${dotted}/${prefixBits}`)];
      const inside = number(ofAddress) >= start && number(ofAddress) < start + size;
      expect(isInNetworks(networks, ofAddress.join("."))).toBe(inside);
      expect(isInNetworks(networks, `::ffff:${ofAddress.join(".")}`)).toBe(inside);
    }),
  );
});

test("[KEY] an IPv6 network admits its own prefix and no IPv4 address, however it is written", () => {
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV4(), (address, ipv4) => {
      const own = parseNetwork(address);
      fc.pre(!("fault" in own) && own[0].kind() === "ipv6");
      expect(isInNetworks([own as Network], address)).toBe(true);
      expect(isInNetworks([network("::/0")], ipv4)).toBe(false);
    }),
  );
  expect(isInNetworks([network("2001:db8::/33")], "2001:db8:7fff::1")).toBe(true);
  expect(isInNetworks([network("2001:db8::/33")], "2001:db8:8000::1")).toBe(false);
});

test("[KEY] text that is not an address is in no network", () => {
  for (const text of ["", "no address", "10.0.0.1, 10.0.0.2"]) {
    expect(isInNetworks([network("0.0.0.0/0"), network("::/0")], text)).toBe(false);
  }
});
