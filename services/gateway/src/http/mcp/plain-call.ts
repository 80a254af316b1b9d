import type { IncomingHttpHeaders } from "node:http";
import {
  type CallToolResult,
  classifyInboundRequest,
  isJsonContentType,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { isJsonObject } from "@toolgate/json/json-object";
import { isToolCall } from "./mcp-message.ts";

/** A tools/call without anything unusual. The SDK would only pass it on, for more than a whole call costs. */
export interface PlainCall {
  id: string | number;
  tool: string;
  args: Record<string, unknown>;
  /** Of the protocol: of 2025, with sessions, or of 2026, in which each request says what its client is. */
  generation: 2025 | 2026;
}

const VERSION_OF_2026 = "2026-07-28";
const VERSIONS_OF_2025: ReadonlySet<string> = new Set(
  SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < VERSION_OF_2026),
);
const OF_MESSAGE = new Set(["jsonrpc", "id", "method", "params"]);
const OF_PARAMS = new Set(["name", "arguments", "_meta"]);

/** Undefined for any other message, and for each one that the SDK might refuse: the SDK responds to those. */
export function plainCallOf(message: unknown, headers: IncomingHttpHeaders): PlainCall | undefined {
  if (!isToolCall(message) || !hasOnly(message, OF_MESSAGE) || !isJsonContentType(headers["content-type"])) return;
  const { jsonrpc, id, params } = message as { jsonrpc?: unknown; id?: unknown; params?: unknown };
  if (jsonrpc !== "2.0" || !(typeof id === "string" || Number.isSafeInteger(id))) return;
  if (!isJsonObject(params) || !hasOnly(params, OF_PARAMS)) return;
  const { name: tool, arguments: args = {}, _meta: meta } = params;
  if (typeof tool !== "string" || !isJsonObject(args)) return;
  const isOf2025 = meta === undefined && isVersionOf2025(headers["mcp-protocol-version"]);
  const generation = isOf2025 ? 2025 : isJsonObject(meta) && isOf2026(message, tool, headers) ? 2026 : undefined;
  return generation && { id: id as string | number, tool, args, generation };
}

/** As the SDK writes it. */
export function responseToPlainCall({ id, generation }: PlainCall, result: CallToolResult, server: object): Buffer {
  const ofGeneration =
    generation === 2025 ? result : { ...result, resultType: "complete", _meta: { [SERVER_INFO_META_KEY]: server } };
  return Buffer.from(JSON.stringify({ result: ofGeneration, jsonrpc: "2.0", id }));
}

function isVersionOf2025(version: string | string[] | undefined): boolean {
  return version === undefined || (typeof version === "string" && VERSIONS_OF_2025.has(version));
}

/** The headers must say the same as the message. */
function isOf2026(message: object, tool: string, headers: IncomingHttpHeaders): boolean {
  if (headers["mcp-protocol-version"] !== VERSION_OF_2026) return false;
  if (headers["mcp-method"] !== "tools/call" || headers["mcp-name"] !== tool) return false;
  const outcome = classifyInboundRequest({
    httpMethod: "POST",
    body: message,
    protocolVersionHeader: VERSION_OF_2026,
    mcpMethodHeader: "tools/call",
    mcpNameHeader: tool,
  });
  return outcome.kind === "modern" && outcome.classification.revision === VERSION_OF_2026;
}

function hasOnly(object: object, names: ReadonlySet<string>): boolean {
  return Object.keys(object).every((name) => names.has(name));
}
