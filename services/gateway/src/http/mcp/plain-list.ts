import type { IncomingHttpHeaders } from "node:http";
import { ProtocolErrorCode, SERVER_INFO_META_KEY } from "@modelcontextprotocol/server";
import { type PlainMethod, type PlainRequest, plainRequestOf } from "./plain-request.ts";

/** A tools/list without anything unusual. The SDK would have to read and write the whole list again, which takes milliseconds. */
export type PlainList = Pick<PlainRequest, "id" | "generation">;

const METHOD: PlainMethod = { method: "tools/list", params: new Set() };
/** What the SDK tells clients unless it is told something else: to ask again each time. */
const NOT_CACHED = { ttlMs: 0, cacheScope: "private" };

export function plainListOf(message: unknown, headers: IncomingHttpHeaders): PlainList | undefined {
  return plainRequestOf(message, headers, METHOD);
}

/** As the SDK writes it. */
export function failureOfPlainList({ id }: PlainList, message: string): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InternalError, message } }));
}

/** As the SDK writes it, around the list of tools as JSON. */
export function responseToPlainList({ id, generation }: PlainList, toolsJson: Buffer, server: object): Buffer {
  const of2026 = { resultType: "complete", ...NOT_CACHED, _meta: { [SERVER_INFO_META_KEY]: server } };
  const rest = generation === 2025 ? "}" : `,${JSON.stringify(of2026).slice(1)}`;
  const end = `${rest},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
  return Buffer.concat([Buffer.from('{"result":{"tools":'), toolsJson, Buffer.from(end)]);
}
