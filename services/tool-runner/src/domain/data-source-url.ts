import { normalizeHost } from "@toolgate/safe-fetch/host";

const TLS_MODES = ["disable", "require", "verify-full"] as const;

export type TlsMode = (typeof TLS_MODES)[number];

/** What the URL of a data source says, every field of it. */
export interface DataSourceUrl {
  /** As safe-fetch writes hosts: one name, a dotted quad or a bracketed IPv6 address. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  tlsMode: TlsMode | undefined;
}

const SCHEMES = new Set(["postgres:", "postgresql:"]);
const DEFAULT_PORT = "5432";
const MAX_URL_CHARS = 2_000;
const CONTROL = /\p{Cc}/u;

/** Undefined for whatever says more than these fields: the query string could name another host, or files to read. */
export function parseDataSourceUrl(text: string): DataSourceUrl | undefined {
  const url = text.length <= MAX_URL_CHARS && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !SCHEMES.has(url.protocol) || url.hash !== "" || url.port === "0") return undefined;
  const host = normalizeHost(url.hostname);
  const names = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  const [user, password, database] = names;
  if (!host || !user || password === undefined || !database) return undefined;
  const parameters = [...url.searchParams];
  const [first] = parameters;
  if (!first) return { host, port: Number(url.port || DEFAULT_PORT), user, password, database, tlsMode: undefined };
  const tlsMode = TLS_MODES.find((mode) => mode === first[1]);
  if (parameters.length > 1 || first[0] !== "sslmode" || !tlsMode) return undefined;
  return { host, port: Number(url.port || DEFAULT_PORT), user, password, database, tlsMode };
}

/**
 * Whether to speak TLS, always with the certificate checked. "refused": without it only to an address that the operator
 * has put on the list.
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
