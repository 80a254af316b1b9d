import { isIPv4 } from "node:net";
import { domainToASCII } from "node:url";

/** Longest URL that is accepted and stored, in UTF-16 units. [SSRF] */
export const MAX_URL_CHARS = 2_048;

/** A scheme that outgoing calls may use; webhook endpoints take `https:` alone. */
export type TargetScheme = "https:" | "http:";

/** What a URL is checked against. Application hosts are names or addresses of this installation, ports are ignored. */
export type TargetRules = {
  applicationHosts: readonly string[];
  schemes: readonly TargetScheme[];
};

/** Why a URL is refused. */
export type TargetUrlFailure =
  | "too-long"
  | "forbidden-character"
  | "malformed"
  | "scheme"
  | "userinfo"
  | "host"
  | "port"
  | "application-host";

/**
 * A URL that may be stored: `url.href` is the form to keep (punycode host, no trailing dot, no fragment), and parses
 * to itself. `host` is its host without port (IPv6 in brackets), `port` is explicit.
 */
export type TargetUrl = { ok: true; url: URL; host: string; port: number };

/** Longest DNS name, in characters. */
const MAX_HOST_CHARS = 253;

const NOT_IN_A_NAME = /[\s\p{Cc}\\/?#@:%]/u;
const NAME = /^(?!.*\.\.)[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;
const LONG_LABEL = /[^.]{64}/;
const FORBIDDEN = /[\s\p{Cc}\p{Zl}\p{Zp}\\]/u;
const SHAPE = /^([a-z][a-z0-9+.-]*:)\/\/([^/?#]+)/i;
const HOST_PORT = /^(.*?)(?::([0-9]*))?$/;
const DEFAULT_PORT = { "https:": 443, "http:": 80 };

/**
 * Decides by its text alone whether a URL that a user chose may be called. Nothing is repaired: control characters,
 * whitespace, backslashes, userinfo (also an empty one), percent-encoded hosts, zone ids, numeric forms of IPv4 other
 * than the dotted quad, and port 0 are refused. Names are turned into punycode, one trailing dot and the fragment are
 * dropped. Where the host resolves to is checked by `checkTarget`. Never throws. [SSRF-1..3]
 */
export function parseTargetUrl(text: string, rules: TargetRules): TargetUrl | { ok: false; reason: TargetUrlFailure } {
  if (text.length > MAX_URL_CHARS) return refuse("too-long");
  if (FORBIDDEN.test(text) || !text.isWellFormed()) return refuse("forbidden-character");
  const shape = SHAPE.exec(text);
  if (shape === null) return refuse("malformed");
  const scheme = rules.schemes.find((allowed) => allowed === shape[1]?.toLowerCase());
  if (scheme === undefined) return refuse("scheme");
  const authority = shape[2] ?? "";
  if (authority.includes("@")) return refuse("userinfo");

  const bracket = authority.lastIndexOf("]") + 1;
  const tail = HOST_PORT.exec(authority.slice(bracket));
  const host = normalizeHost(authority.slice(0, bracket) + (tail?.[1] ?? ""));
  if (tail === null || host === undefined) return refuse("host");
  const port = tail[2] ? Number(tail[2]) : DEFAULT_PORT[scheme];
  if (!(port >= 1 && port <= 65_535)) return refuse("port");
  if (rules.applicationHosts.some((own) => ownHost(own) === host)) return refuse("application-host");

  const url = URL.parse(`${scheme}//${host}:${port}${text.slice(shape[0].length)}`);
  if (url === null || url.hostname !== host) return refuse("malformed");
  url.hash = "";
  return url.href.length > MAX_URL_CHARS ? refuse("too-long") : { ok: true, url, host, port };
}

/** Application hosts come from configuration, so a port, upper case and a trailing dot are taken off. */
function ownHost(text: string): string | undefined {
  return normalizeHost(text.replace(/:[0-9]+$/, ""));
}

function refuse(reason: TargetUrlFailure): { ok: false; reason: TargetUrlFailure } {
  return { ok: false, reason };
}

/**
 * The form in which hosts are compared and stored: lower-case punycode without a trailing dot, a plain dotted quad,
 * or a bracketed, compressed IPv6 address. Undefined for anything else, such as percent-encoding, zone ids
 * and numeric forms of IPv4 other than the dotted quad. Idempotent, never throws. [SSRF]
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
