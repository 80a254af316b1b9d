import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** Whether an address may be connected to on behalf of a user. */
export type AddressClass = "public" | "blocked";

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

/** The only IPv6 space that is handed out for the public internet; [SSRF-16..18] all lie outside. */
const GLOBAL_IPV6: Range = ["2000::", 3];

const BLOCKED_IPV6: readonly Range[] = [
  ["2001::", 23], // IETF protocol assignments: Teredo, benchmarking, ORCHID
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4, carries an IPv4 address
  ["3fff::", 20], // documentation
];

type Mask = { network: readonly number[]; prefixBits: number };

const ipv4Masks = BLOCKED_IPV4.map(toMask);
const ipv6Masks = BLOCKED_IPV6.map(toMask);
const globalIpv6 = toMask(GLOBAL_IPV6);
const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

function toMask([network, prefixBits]: Range): Mask {
  return { network: ipaddr.parse(network).toByteArray(), prefixBits };
}

/** `ipaddr.js` reads `::a.b.c.d` as `::ffff:a.b.c.d`, which is another address; in hextets it does not. */
const DOTTED_TAIL = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

function toHextets(_tail: string, a: string, b: string, c: string, d: string): string {
  return `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`;
}

/**
 * The bytes of an address in network order: 4 for IPv4 and for IPv4-mapped IPv6 (`::ffff:a.b.c.d` is unwrapped),
 * else 16. Undefined for everything that is not one plain address: zone ids, numeric and short IPv4 forms,
 * leading zeros, brackets, names. [SSRF-19]
 */
export function addressBytes(ip: string): readonly number[] | undefined {
  if (isIPv4(ip)) return ip.split(".").map(Number);
  if (ip.includes("%") || !isIPv6(ip)) return undefined;
  const bytes = ipaddr.IPv6.parse(ip.replace(DOTTED_TAIL, toHextets)).toByteArray();
  return mappedPrefix.every((byte, index) => bytes[index] === byte) ? bytes.slice(mappedPrefix.length) : bytes;
}

/**
 * Whether an address lies on the public internet. Blocked is every range of the SSRF section and its decisions;
 * an IPv4-mapped IPv6 address counts as the IPv4 address inside; other IPv6 is public inside 2000::/3 only, without
 * 6to4, Teredo and documentation, so that NAT64, IPv4-compatible, unique-local, link-local, site-local, discard and
 * multicast addresses are all blocked. What is not an address is blocked too. Pure, never throws. [SSRF-7..19]
 */
export function classifyAddress(ip: string): AddressClass {
  const bytes = addressBytes(ip);
  return bytes !== undefined && isPublic(bytes) ? "public" : "blocked";
}

function isPublic(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return !ipv4Masks.some((mask) => isInside(bytes, mask));
  return isInside(bytes, globalIpv6) && !ipv6Masks.some((mask) => isInside(bytes, mask));
}

function isInside(bytes: readonly number[], mask: Mask): boolean {
  return hasPrefix(bytes, mask.network, mask.prefixBits);
}

/**
 * Whether the first `prefixBits` bits of two addresses (bytes in network order) are equal.
 * Addresses of different length never match.
 */
export function hasPrefix(bytes: readonly number[], network: readonly number[], prefixBits: number): boolean {
  if (bytes.length !== network.length) return false;
  const whole = prefixBits >> 3;
  for (let index = 0; index < whole; index++) {
    if (bytes[index] !== network[index]) return false;
  }
  const rest = prefixBits & 7;
  if (rest === 0) return true;
  return ((bytes[whole] ?? 0) ^ (network[whole] ?? 0)) >> (8 - rest) === 0;
}
