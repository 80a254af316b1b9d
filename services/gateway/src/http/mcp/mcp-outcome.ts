import type { FastifyReply } from "fastify";
import { ERROR_CODE_HEADER } from "../../domain/error-codes.ts";
import { REPLAYED_HEADER, UNAUTHENTICATED } from "../../domain/responses.ts";
import { dropLimitHeaders, sendResponse, setLimitHeaders } from "../key-api.ts";
import { errorCodeIn } from "./mcp-message.ts";
import type { McpExchange } from "./mcp-server.ts";

/** What an MCP client gets. */
export interface McpResponse {
  status: number;
  body: Buffer;
  hasType: boolean;
}

/** Only now, when the response is complete, are the headers known that carry the limit after the call. */
export function sendOutcome(
  reply: FastifyReply,
  exchange: McpExchange,
  { status, body, hasType }: McpResponse,
): FastifyReply {
  if (exchange.response === UNAUTHENTICATED) {
    dropLimitHeaders(reply);
    return sendResponse(reply, UNAUTHENTICATED);
  }
  if (exchange.refusal) return sendResponse(reply, exchange.refusal);
  if (exchange.call) setLimitHeaders(reply, exchange.call.verdict, exchange.call.arrivedAtMs);
  // [LIMIT-9] Its other headers belong to its own status, not to the 200 of MCP.
  const replayed = exchange.response?.headers?.[REPLAYED_HEADER];
  if (replayed) reply.header(REPLAYED_HEADER, replayed);
  const code = exchange.response ? exchange.response.code : errorCodeIn(body, status);
  if (code) reply.header(ERROR_CODE_HEADER, code);
  if (hasType) reply.header("content-type", "application/json");
  return reply.code(status).send(body);
}
