import type { IncomingHttpHeaders } from "node:http";
import { classifyInboundRequest, isJsonContentType, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { isJsonObject } from "@toolgate/json/json-object";
import { LRUCache } from "lru-cache";

/** A request without anything unusual. The SDK would add nothing to it, and cost more than the rest of it. */
export interface PlainRequest {
  id: string | number;
  params: Record<string, unknown>;
  /** Of the protocol: of 2025, with sessions, or of 2026, in which each request says what its client is. */
  generation: 2025 | 2026;
}

/** A method, and the parameters that its plain requests may have besides metadata. */
export interface PlainMethod {
  method: string;
  params: ReadonlySet<string>;
  /** The parameter that clients of 2026 repeat in a header. */
  named?: string;
}

const VERSION_OF_2026 = "2026-07-28";
const VERSIONS_OF_2025: ReadonlySet<string> = new Set(
  SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < VERSION_OF_2026),
);
/** Metadata of which the SDK has said that it is of 2026. Most clients send the same with each request. */
const KNOWN_METADATA = new LRUCache<string, true>({ max: 100 });
const MAX_KNOWN_LENGTH = 2_000;
const OF_MESSAGE = new Set(["jsonrpc", "id", "method", "params"]);

/** Undefined for any other message, and for each one that the SDK might refuse: the SDK responds to those. */
export function plainRequestOf(
  message: unknown,
  headers: IncomingHttpHeaders,
  { method, params: known, named }: PlainMethod,
): PlainRequest | undefined {
  if (!isJsonObject(message) || message.method !== method || !hasOnly(message, OF_MESSAGE)) return;
  if (!isJsonContentType(headers["content-type"])) return;
  const { jsonrpc, id, params: sent = {} } = message;
  if (jsonrpc !== "2.0" || !(typeof id === "string" || Number.isSafeInteger(id)) || !isJsonObject(sent)) return;
  const { _meta: meta, ...params } = sent;
  if (!hasOnly(params, known)) return;
  const request = { id: id as string | number, params };
  if (meta === undefined) {
    return isVersionOf2025(headers["mcp-protocol-version"]) ? { ...request, generation: 2025 } : undefined;
  }
  const name = named === undefined ? undefined : params[named];
  const isOf2026 = isJsonObject(meta) && sayTheSame(method, name, headers) && isMetadataOf2026(message, meta, method);
  return isOf2026 ? { ...request, generation: 2026 } : undefined;
}

function isVersionOf2025(version: string | string[] | undefined): boolean {
  return version === undefined || (typeof version === "string" && VERSIONS_OF_2025.has(version));
}

/** Whether the headers of 2026 repeat what the message says. */
function sayTheSame(method: string, name: unknown, headers: IncomingHttpHeaders): boolean {
  if (headers["mcp-protocol-version"] !== VERSION_OF_2026) return false;
  return headers["mcp-method"] === method && headers["mcp-name"] === name;
}

/** All else in the message has been checked: what the SDK says depends on the metadata alone. */
function isMetadataOf2026(message: object, meta: object, method: string): boolean {
  const text = JSON.stringify(meta);
  // A number that is too large is written as null too, but the SDK refuses it.
  const isExact = !text.includes("null");
  if (isExact && KNOWN_METADATA.get(text)) return true;
  const outcome = classifyInboundRequest({
    httpMethod: "POST",
    body: message,
    protocolVersionHeader: VERSION_OF_2026,
    mcpMethodHeader: method,
  });
  const isOf2026 = outcome.kind === "modern" && outcome.classification.revision === VERSION_OF_2026;
  if (isOf2026 && isExact && text.length <= MAX_KNOWN_LENGTH) KNOWN_METADATA.set(text, true);
  return isOf2026;
}

function hasOnly(object: object, names: ReadonlySet<string>): boolean {
  return Object.keys(object).every((name) => names.has(name));
}
