import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** A parsed address; `kind()` tells IPv4 from IPv6. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** `ipaddr.js` reads `::a.b.c.d` as `::ffff:a.b.c.d`, which is another address; in hextets it does not. */
const DOTTED_TAIL = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

const IPV6_GROUPS = 8;
const IPV6_GROUPS_KEPT = 3;
const IPV6_GROUPS_OF_CLIENT = 4;

/**
 * Reads one plain address; IPv4-mapped IPv6 (`::ffff:a.b.c.d`) is the IPv4 address inside. Undefined for anything else:
 * zone ids, numeric and short IPv4 forms, leading zeros, brackets, names. [SSRF-19]
 */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return new ipaddr.IPv4(text.split(".").map(Number));
  if (text.includes("%") || !isIPv6(text)) return undefined;
  const ip = ipaddr.IPv6.parse(text.replace(DOTTED_TAIL, toHextets));
  return ip.isIPv4MappedAddress() ? ip.toIPv4Address() : ip;
}

function toHextets(_tail: string, a: string, b: string, c: string, d: string): string {
  return `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`;
}

/** An address in its one canonical form (RFC 5952), IPv4 also where it is mapped into IPv6; "" if it is not an address. */
export function canonicalIp(address: string): string {
  return isIPv4(address) ? address : (parseIp(withoutZone(address))?.toString() ?? "");
}

/**
 * [LOG-7] [TOOL-43] The part of an address that does not identify a person: IPv4 /24, IPv6 /48; "" if it is not an
 * address.
 */
export function shortIp(address: string): string {
  const ip = parseIp(withoutZone(address));
  if (!ip) return "";
  if (ip instanceof ipaddr.IPv4) return `${ip.octets.slice(0, 3).join(".")}.0`;
  const kept = ip.parts.slice(0, IPV6_GROUPS_KEPT);
  return new ipaddr.IPv6([...kept, ...Array(IPV6_GROUPS - IPV6_GROUPS_KEPT).fill(0)]).toString();
}

/** Who is counted as one client: an IPv4 address, or an IPv6 /64, because whoever has one address usually has all of it. */
export function networkOf(address: string): string {
  const ip = parseIp(address);
  return ip instanceof ipaddr.IPv6 ? `${ip.parts.slice(0, IPV6_GROUPS_OF_CLIENT).join(":")}::` : address;
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, "");
}
