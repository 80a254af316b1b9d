import { pastedFault, trimPasted } from "@toolgate/rules/pasted";

const MAX_HEADERS = 10;
const MAX_NAME_CHARS = 100;
const MAX_VALUE_CHARS = 4_096;
const MAX_TOTAL_CHARS = 8 * 1024;
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const VALUE = /^[!-~](?:[ !-~]*[!-~])?$/;
/** What deliveries have already, and what decides how HTTP is read, where it goes, or what a proxy believes. */
const RESERVED = new Set(
  `accept-encoding connection content-encoding content-length content-type cookie date expect forwarded host keep-alive
   proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding traceparent tracestate upgrade
   user-agent via x-real-ip x-request-id`.split(/\s+/),
);
const RESERVED_PREFIXES = ["x-service-", "webhook-", "x-forwarded-", "sec-", "proxy-", "content-"];

/** Custom headers with names in lower case, or why they cannot be used. */
export function readCustomHeaders(
  given: Readonly<Record<string, string>>,
): { ok: true; headers: Record<string, string> } | { ok: false; violation: string } {
  const headers: Record<string, string> = {};
  let chars = 0;
  const refuse = (violation: string) => ({ ok: false as const, violation: `headers: ${violation}` });
  for (const [sent, pasted] of Object.entries(given)) {
    const value = trimPasted(pasted);
    const name = sent.toLowerCase();
    if (name.length > MAX_NAME_CHARS || !TOKEN.test(name)) return refuse("a name is not one of HTTP");
    if (RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix))) {
      return refuse(`${name} is reserved`);
    }
    if (Object.hasOwn(headers, name)) return refuse(`${name} is given twice`);
    const fault = pastedFault(value);
    if (fault) return refuse(`${name}: ${fault}`);
    if (value.length > MAX_VALUE_CHARS || !VALUE.test(value)) {
      return refuse(`${name}: 1 to ${MAX_VALUE_CHARS} visible ASCII characters and blanks`);
    }
    headers[name] = value;
    chars += name.length + value.length;
  }
  if (Object.keys(headers).length > MAX_HEADERS) return refuse(`at most ${MAX_HEADERS}`);
  return chars > MAX_TOTAL_CHARS ? refuse(`at most ${MAX_TOTAL_CHARS} characters together`) : { ok: true, headers };
}

/** Binds sealed headers to their endpoint, and keeps them apart from its secret. */
export function headersContext(endpointId: number): string {
  return `endpoint-headers:${endpointId}`;
}
