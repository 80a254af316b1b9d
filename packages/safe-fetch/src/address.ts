import { BlockList } from "node:net";
import { parseIp } from "@toolgate/ip-address/ip-address";

/** The only IPv6 space that is assigned for the public internet; the ranges of [SSRF-16..18] are outside it. */
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet("2000::", 3, "ipv6");

type Range = readonly [network: string, prefixBits: number];

/** [SSRF-7..15] and the decisions on reserved ranges. */
const BLOCKED_IPV4: readonly Range[] = [
  ["0.0.0.0", 8], // "this network" [SSRF-13]
  ["10.0.0.0", 8], // private [SSRF-8]
  ["100.64.0.0", 10], // shared address space of carriers [SSRF-12]
  ["127.0.0.0", 8], // loopback [SSRF-7]
  ["168.63.129.16", 32], // platform services of a large cloud, reachable from its machines only
  ["169.254.0.0", 16], // link-local, cloud metadata [SSRF-11]
  ["172.16.0.0", 12], // private [SSRF-9]
  ["192.0.0.0", 24], // IETF protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private [SSRF-10]
  ["198.18.0.0", 15], // benchmarking
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast [SSRF-14]
  ["240.0.0.0", 4], // reserved, with broadcast [SSRF-15]
];

/** Blocked inside of `GLOBAL_IPV6`. */
const BLOCKED_IPV6: readonly Range[] = [
  ["2001::", 23], // IETF protocol assignments: Teredo, benchmarking, ORCHID
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4, carries an IPv4 address
  ["3fff::", 20], // documentation
];

const BLOCKED = new BlockList();
for (const [network, prefixBits] of BLOCKED_IPV4) BLOCKED.addSubnet(network, prefixBits, "ipv4");
for (const [network, prefixBits] of BLOCKED_IPV6) BLOCKED.addSubnet(network, prefixBits, "ipv6");

/** The same rules as networks in CIDR notation, for firewalls: exactly these are public, without those in `except`. */
export const PUBLIC_NETWORKS: readonly { cidr: string; except: readonly string[] }[] = [
  { cidr: "0.0.0.0/0", except: BLOCKED_IPV4.map(([network, prefixBits]) => `${network}/${prefixBits}`) },
  { cidr: "2000::/3", except: BLOCKED_IPV6.map(([network, prefixBits]) => `${network}/${prefixBits}`) },
];

/**
 * Whether an address may be connected to on behalf of a user: it is outside every range of the SSRF section. An
 * IPv4-mapped IPv6 address counts as the IPv4 address inside; other IPv6 is public inside 2000::/3 only, without 6to4,
 * Teredo and documentation, so NAT64, IPv4-compatible, unique-local, link-local, site-local, discard and multicast
 * addresses are all blocked. So is text that is not an address. Pure, never throws. [SSRF-7..19]
 */
export function isPublicAddress(text: string): boolean {
  const ip = parseIp(text);
  if (!ip) return false;
  const family = ip.kind();
  const plain = ip.toString();
  return (family === "ipv4" || GLOBAL_IPV6.check(plain, family)) && !BLOCKED.check(plain, family);
}
