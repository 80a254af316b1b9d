import ipaddr from "ipaddr.js";
import { type IpAddress, parseIp } from "./ip-address.ts";

/** A CIDR network. */
export type Network = readonly [address: IpAddress, prefixBits: number];

const MAPPED_BITS = 96;
const FORM = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9]\d{0,2}))?$/;

/**
 * Parses a network such as 203.0.113.0/24 or 2001:db8::1 (one address), or says what is wrong with it. An IPv4-mapped
 * network (::ffff:a.b.c.d/96 to /128) is the IPv4 network inside.
 */
export function parseNetwork(text: string): Network | { fault: string } {
  const [, address = "", prefix] = FORM.exec(text.trim()) ?? [];
  const ip = parseIp(address);
  if (!ip) return { fault: "not an IPv4 or IPv6 network such as 203.0.113.0/24" };
  const isIpv4 = ip instanceof ipaddr.IPv4;
  const bits = isIpv4 ? 32 : 128;
  const mappedBits = isIpv4 && address.includes(":") ? MAPPED_BITS : 0;
  const prefixBits = prefix === undefined ? bits : Number(prefix) - mappedBits;
  if (prefixBits < 0) return { fault: "a mapped IPv4 network needs a prefix of 96 or more" };
  if (prefixBits > bits) return { fault: `the prefix is longer than ${bits + mappedBits} bits` };
  const family = isIpv4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const first = family.networkAddressFromCIDR(`${ip}/${prefixBits}`);
  if (first.toString() !== ip.toString()) {
    return { fault: `has bits set after the prefix; the network is ${formatNetwork([first, prefixBits])}` };
  }
  return [ip, prefixBits];
}

/** The one spelling of a network, RFC 5952 for IPv6. */
export function formatNetwork([address, prefixBits]: Network): string {
  return `${address}/${prefixBits}`;
}

/** Whether an address is in one of the networks; false for text that is not an address. */
export function isInNetworks(networks: readonly Network[], address: string): boolean {
  const ip = parseIp(address);
  return (
    ip !== undefined &&
    networks.some(([first, prefixBits]) => first.kind() === ip.kind() && ip.match(first, prefixBits))
  );
}
