import { normalizeHost } from "@toolgate/safe-fetch/target-url";

const TLS_MODES = ["disable", "require", "verify-full"] as const;

type TlsMode = (typeof TLS_MODES)[number];

const SCHEMES = new Set(["postgres:", "postgresql:"]);
const DEFAULT_PORT = "5432";
const MAX_URL_CHARS = 2_000;
const CONTROL = /\p{Cc}/u;

/**
 * Reads the URL of a data source. Undefined if it contains anything but these fields: a query string could name another
 * host, or files to read. `host` is a name, a dotted quad or an IPv6 address in brackets.
 */
export function parseDataSourceUrl(text: string) {
  const url = text.length <= MAX_URL_CHARS ? URL.parse(text) : null;
  if (!url || !SCHEMES.has(url.protocol) || url.hash !== "" || url.port === "0") return undefined;
  const host = normalizeHost(url.hostname);
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (!host || !user || password === undefined || !database) return undefined;
  const [parameter, ...others] = url.searchParams;
  const tlsMode = TLS_MODES.find((mode) => mode === parameter?.[1]);
  if (parameter && (parameter[0] !== "sslmode" || !tlsMode || others.length > 0)) return undefined;
  return { host, port: Number(url.port || DEFAULT_PORT), user, password, database, tlsMode };
}

/**
 * Whether to use TLS, which always checks the certificate. "refused" if the URL turns TLS off for an address that the
 * operator has not listed.
 */
export function tlsTo(mode: TlsMode | undefined, listedByOperator: boolean): boolean | "refused" {
  if (mode === "disable") return listedByOperator ? false : "refused";
  return mode !== undefined || !listedByOperator;
}

function decoded(part: string): string | undefined {
  try {
    const text = decodeURIComponent(part);
    return CONTROL.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
