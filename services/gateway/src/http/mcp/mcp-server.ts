import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server, type Tool } from "@modelcontextprotocol/server";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { argumentsSchema } from "../../domain/descriptions/described-tool.ts";
import { sorted } from "../../domain/descriptions/openapi.ts";
import { apiKeyOf, IDEMPOTENCY_KEY_HEADER, readIdempotencyKey } from "../../domain/request-headers.ts";
import { type ApiResponse, INTERNAL_ERROR, UNAUTHENTICATED } from "../../domain/responses.ts";
import { logCall, refusalOf, runVerified, type VerifiedCall, verifyCall } from "../tools/tool-call.ts";

/** One HTTP request of an MCP client, and its outcome if it called a tool. */
export interface McpExchange {
  key: KeyVerdict;
  request: FastifyRequest;
  call?: VerifiedCall;
  response?: ApiResponse;
}

const SERVER = { name: "toolgate", version: "1" };

/** Offers the tools of one key for one request; no state remains after it. */
export function mcpServer(context: Context, exchange: McpExchange): Server {
  const server = new Server(SERVER, { capabilities: { tools: {} } });
  const { keyId } = exchange.key;
  server.setRequestHandler("tools/list", async () => {
    const tools = await offeredTools(context, exchange.key).catch((error: unknown) => {
      context.log.error({ err: error, keyId }, "tools not described");
      throw new ProtocolError(ProtocolErrorCode.InternalError, "Interner Fehler");
    });
    return { tools };
  });
  server.setRequestHandler("tools/call", async ({ params }) => {
    exchange.response = await callTool(context, exchange, params.name, params.arguments ?? {}).catch(
      (error: unknown) => {
        context.log.error({ err: error, keyId }, "tool call failed unexpectedly");
        return INTERNAL_ERROR;
      },
    );
    return resultOf(exchange.response);
  });
  return server;
}

async function offeredTools({ descriptions, describeTools }: Context, key: KeyVerdict): Promise<Tool[]> {
  const { body } = await descriptions.get(key, "mcp", async () =>
    JSON.stringify(sorted(await describeTools(key)).map(offeredTool)),
  );
  return JSON.parse(body.toString("utf8"));
}

/** Has no output schema: clients reject results that do not match it, and results are not checked here. */
function offeredTool(tool: ToolDescription): Tool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: argumentsSchema(tool, "#") as Tool["inputSchema"],
    annotations: { readOnlyHint: tool.readOnly },
  };
}

async function callTool(
  context: Context,
  exchange: McpExchange,
  tool: string,
  args: Record<string, unknown>,
): Promise<ApiResponse> {
  const { headers, ip: clientIp } = exchange.request;
  const call = await verifyCall(context, { secret: apiKeyOf(headers.authorization), tool, clientIp });
  if (!call) return UNAUTHENTICATED;
  exchange.call = call;
  const body = Buffer.from(JSON.stringify({ args }));
  const { key: idempotencyKey, violation: bodyFault } = readIdempotencyKey(headers[IDEMPOTENCY_KEY_HEADER]);
  const response = refusalOf(call) ?? (await runVerified(context, call, { body, bodyFault, idempotencyKey }));
  await logCall(context, call, response.status);
  return response;
}

function resultOf({ status, body }: ApiResponse): CallToolResult {
  const text = body.toString("utf8");
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text), isError: status !== 200 };
}
