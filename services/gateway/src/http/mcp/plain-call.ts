import type { IncomingHttpHeaders } from "node:http";
import { type CallToolResult, SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import { isJsonObject } from "@toolgate/json/json-object";
import { type PlainMethod, type PlainRequest, plainRequestOf } from "./plain-request.ts";

/** A tools/call without anything unusual. */
export interface PlainCall extends Pick<PlainRequest, "id" | "generation"> {
  tool: string;
  args: Record<string, unknown>;
}

const METHOD: PlainMethod = { method: "tools/call", params: new Set(["name", "arguments"]), named: "name" };

export function plainCallOf(message: unknown, headers: IncomingHttpHeaders): PlainCall | undefined {
  const request = plainRequestOf(message, headers, METHOD);
  if (!request) return;
  const { name: tool, arguments: args = {} } = request.params;
  if (typeof tool !== "string" || !isJsonObject(args)) return;
  return { id: request.id, tool, args, generation: request.generation };
}

/** As the SDK writes it. */
export function responseToPlainCall({ id, generation }: PlainCall, result: CallToolResult, server: object): Buffer {
  const ofGeneration =
    generation === 2025 ? result : { ...result, resultType: "complete", _meta: { [SERVER_INFO_META_KEY]: server } };
  return Buffer.from(JSON.stringify({ result: ofGeneration, jsonrpc: "2.0", id }));
}
