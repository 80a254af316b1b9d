const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** Methods that may be sent. */
export type FetchMethod = (typeof METHODS)[number];

/** At most this many bytes are allowed for the names and values of request headers together. */
const MAX_REQUEST_HEADER_BYTES = 32_768;

/** Headers that frame the message or name its target: they belong to the connection, not to the caller. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const NOT_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Why a request may not be sent, as a sentence that may be shown; undefined when it may. Refuses methods outside
 * FetchMethod, headers that frame the message or name the host, and names or values that are not HTTP.
 */
export function refuseRequest(method: string, headers: Readonly<Record<string, string>>): string | undefined {
  if (!METHODS.some((allowed) => allowed === method)) return "method not allowed";
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name] ?? "";
    if (!TOKEN.test(name) || OWN_HEADERS.has(name.toLowerCase())) return "header not allowed";
    if (NOT_A_VALUE.test(value)) return "header value not allowed";
    bytes += name.length + value.length;
  }
  return bytes > MAX_REQUEST_HEADER_BYTES ? "headers too large" : undefined;
}
