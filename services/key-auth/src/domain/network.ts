import { addressBytes, hasPrefix } from "@toolgate/safe-fetch/address";

/** A CIDR network; an IPv4-mapped one (::ffff:a.b.c.d/96 to /128) is the IPv4 network inside. */
export interface Network {
  /** 4 or 16, in network order. */
  bytes: readonly number[];
  prefixBits: number;
}

const MAPPED_BITS = 96;
const FORM = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9]\d{0,2}))?$/;

/** The network of a text such as 203.0.113.0/24 or 2001:db8::1 (one address). What is wrong with it, if anything. */
export function parseNetwork(text: string): Network | { fault: string } {
  const [, address = "", prefix] = FORM.exec(text.trim()) ?? [];
  const bytes = addressBytes(address);
  if (!bytes) return { fault: "not an IPv4 or IPv6 network such as 203.0.113.0/24" };
  const bits = bytes.length * 8;
  const mapped = bits === 32 && address.includes(":");
  const prefixBits = prefix === undefined ? bits : Number(prefix) - (mapped ? MAPPED_BITS : 0);
  if (prefixBits < 0) return { fault: "a mapped IPv4 network needs a prefix of 96 or more" };
  if (prefixBits > bits) return { fault: `the prefix is longer than ${bits + (mapped ? MAPPED_BITS : 0)} bits` };
  const network = bytes.map((byte, index) => byte & maskByte(prefixBits - index * 8));
  if (network.some((byte, index) => byte !== bytes[index])) {
    return { fault: `has bits set after the prefix; the network is ${formatNetwork({ bytes: network, prefixBits })}` };
  }
  return { bytes: network, prefixBits };
}

/** The eight bits of a mask of which `bits` are left. */
function maskByte(bits: number): number {
  if (bits >= 8) return 0xff;
  return bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff;
}

/** The one spelling of a network, RFC 5952 for IPv6. */
export function formatNetwork({ bytes, prefixBits }: Network): string {
  return `${bytes.length === 4 ? bytes.join(".") : formatIpv6(bytes)}/${prefixBits}`;
}

function formatIpv6(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, index) => (bytes[index * 2] ?? 0) * 256 + (bytes[index * 2 + 1] ?? 0));
  const longest = longestZeros(groups);
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(":");
  if (longest.length < 2) return hex(groups);
  return `${hex(groups.slice(0, longest.start))}::${hex(groups.slice(longest.start + longest.length))}`;
}

/** The first of the longest runs of zeros. */
function longestZeros(groups: number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { start: index - length + 1, length };
  }
  return longest;
}

/** Whether an address lies in one of the networks; no networks admit every address, and what is no address none. */
export function admitsAddress(networks: readonly Network[], address: string): boolean {
  if (networks.length === 0) return true;
  const bytes = addressBytes(address);
  return bytes !== undefined && networks.some((network) => hasPrefix(bytes, network.bytes, network.prefixBits));
}
