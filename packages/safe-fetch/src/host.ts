import { isIPv4 } from "node:net";
import { domainToASCII } from "node:url";

/** Longest DNS name, in characters. */
export const MAX_HOST_CHARS = 253;

const NOT_IN_A_NAME = /[\s\p{Cc}\\/?#@:%]/u;
const NAME = /^(?!.*\.\.)[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;
const LONG_LABEL = /[^.]{64}/;

/**
 * The form in which hosts are compared and stored: lower-case punycode without a trailing dot, a plain dotted quad,
 * or a bracketed, compressed IPv6 address. Undefined for what is none of these, among it percent-encoding, zone ids
 * and every numeric form of IPv4 other than the dotted quad. Idempotent, never throws. [SSRF]
 */
export function normalizeHost(text: string): string | undefined {
  if (text.startsWith("[")) return normalizeIpv6(text);
  if (isIPv4(text)) return text;
  if (NOT_IN_A_NAME.test(text)) return undefined;
  const ascii = domainToASCII(text);
  const name = ascii.endsWith(".") ? ascii.slice(0, -1) : ascii;
  if (name.length > MAX_HOST_CHARS || isIPv4(name) || !NAME.test(name) || LONG_LABEL.test(name)) return undefined;
  return name;
}

function normalizeIpv6(text: string): string | undefined {
  if (text.includes("%") || !URL.canParse(`http://${text}/`)) return undefined;
  const { host } = new URL(`http://${text}/`);
  return /^\[[0-9a-f:]+\]$/.test(host) ? host : undefined;
}
