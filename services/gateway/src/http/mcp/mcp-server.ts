import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server, type Tool } from "@modelcontextprotocol/server";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { isDeeperThan } from "@toolgate/json/json-object";
import { leaveRoom } from "@toolgate/service-host/leave-room";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import { argumentsSchema, outputSchema } from "../../domain/descriptions/described-tool.ts";
import { sorted } from "../../domain/descriptions/openapi.ts";
import { apiKeyOf, IDEMPOTENCY_KEY_HEADER, readIdempotencyKey } from "../../domain/request-headers.ts";
import { type ApiResponse, INTERNAL_ERROR, UNAUTHENTICATED, type Violation } from "../../domain/responses.ts";
import { refusalOfDescription, takeTurnToSend } from "../descriptions/large-descriptions.ts";
import { verifyUncounted } from "../key-api.ts";
import { runVerified } from "../tools/tool-call.ts";
import { logCall } from "../tools/usage-record.ts";
import { arrivalOf, isRefused, refusalOf, type VerifiedCall, verifyCall } from "../tools/verified-call.ts";
import { MAX_JSON_LEVELS } from "./mcp-message.ts";

/** One HTTP request of an MCP client, and its outcome if it called a tool. */
export interface McpExchange {
  /** With its list of tools; undefined if the request is a call, which is verified with its tool. */
  key: KeyVerdict | undefined;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Why the arguments of a call cannot be used. The call is counted and logged all the same. */
  fault?: Violation | undefined;
  call?: VerifiedCall;
  response?: ApiResponse;
  /** Why the list of tools is not sent. */
  refusal?: ApiResponse | undefined;
}

/** What clients are told about this server. */
export const SERVER = { name: "toolgate", version: "1" };

/** What clients get when something here fails. */
export const INTERNAL_MESSAGE = "Interner Fehler";
/** A list of tools that takes milliseconds to make, and to read and write in the SDK. */
const LARGE_BYTES = 64 * 1024;

/** Offers the tools of one key for one request; no state remains after it. */
export function mcpServer(context: Context, exchange: McpExchange): Server {
  const server = new Server(SERVER, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => {
    const tools = await offeredTools(context, exchange);
    if (!tools) throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_MESSAGE);
    return { tools: JSON.parse(tools.toString("utf8")) };
  });
  server.setRequestHandler("tools/call", ({ params }) =>
    callOfferedTool(context, exchange, params.name, params.arguments ?? {}),
  );
  return server;
}

/** Calls a tool for the key of `exchange`, which gets the outcome too. */
export async function callOfferedTool(
  context: Context,
  exchange: McpExchange,
  tool: string,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  exchange.response = await callTool(context, exchange, tool, args).catch((error: unknown) => {
    const { keyId } = exchange.key ?? exchange.call?.verdict ?? {};
    context.log.error({ err: error, keyId }, "tool call failed unexpectedly");
    return INTERNAL_ERROR;
  });
  return resultOf(context, exchange, tool, exchange.response);
}

/** As a JSON array. Undefined when the tools cannot be described: `exchange` gets the refusal, and any other error is logged. */
export async function offeredTools(context: Context, exchange: McpExchange): Promise<Buffer | undefined> {
  return describedTools(context, exchange).catch((error: unknown) => {
    exchange.refusal = refusalOfDescription(error, exchange.reply.raw);
    if (!exchange.refusal) context.log.error({ err: error, keyId: exchange.key?.keyId }, "tools not described");
    return undefined;
  });
}

async function describedTools(context: Context, exchange: McpExchange): Promise<Buffer> {
  const { descriptions, turns } = context;
  const key = await keyWithTools(context, exchange);
  const { body } = await descriptions.get(key, "mcp", ({ tools }) => JSON.stringify(sorted(tools).map(offeredTool)));
  await takeTurnToSend(turns, key.workspaceId, body, exchange.reply.raw);
  // Those that waited for the same description continue at the same time.
  if (body.length >= LARGE_BYTES) await leaveRoom(key.workspaceId);
  return body;
}

/** Clients reject a result that does not match the output schema, so there is one only where the workspace wrote one. */
function offeredTool(tool: ToolDescription): Tool {
  const output = outputSchema(tool);
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: argumentsSchema(tool, "#") as Tool["inputSchema"],
    ...(output && { outputSchema: output as Tool["outputSchema"] }),
    annotations: { readOnlyHint: tool.readOnly },
  };
}

async function callTool(
  context: Context,
  exchange: McpExchange,
  tool: string,
  args: Record<string, unknown>,
): Promise<ApiResponse> {
  const { headers } = exchange.request;
  const secret = apiKeyOf(headers.authorization);
  const call = exchange.call ?? (await verifyCall(context, { secret, tool, ...arrivalOf(context, exchange.request) }));
  if (!call) return UNAUTHENTICATED;
  exchange.call = call;
  const body = Buffer.from(JSON.stringify({ args }));
  const { key: idempotencyKey, violation } = readIdempotencyKey(headers[IDEMPOTENCY_KEY_HEADER]);
  const bodyFault = exchange.fault ?? violation;
  const response = isRefused(call)
    ? refusalOf(call, context.now())
    : await runVerified(context, call, { body, bodyFault, idempotencyKey });
  await logCall(context, call, response.status);
  return response;
}

/**
 * Some clients check even the body of an error against the output schema. So where there is one, a failure is only text;
 * and [TOOL-12] so is what a tool returned to say that it failed. What is nested very deeply is text too: writing it as JSON
 * again would overflow the stack, here and in the SDK.
 */
async function resultOf(
  context: Context,
  exchange: McpExchange,
  tool: string,
  { status, body }: ApiResponse,
): Promise<CallToolResult> {
  const text = body.toString("utf8");
  const structuredContent = JSON.parse(text);
  const isFailure = status !== 200 || structuredContent.success === false;
  const isDeep = isDeeperThan(structuredContent, MAX_JSON_LEVELS);
  const content: CallToolResult["content"] = [{ type: "text", text }];
  if ((isFailure || isDeep) && (await hasOutputSchema(context, exchange, tool))) return { content, isError: true };
  return { content, ...(!isDeep && { structuredContent }), isError: status !== 200 };
}

async function hasOutputSchema(context: Context, exchange: McpExchange, tool: string): Promise<boolean> {
  const { descriptions, log } = context;
  try {
    const key = await keyWithTools(context, exchange);
    const { body } = await descriptions.get(key, "mcp output schemas", ({ tools }) =>
      JSON.stringify(tools.filter((one) => outputSchema(one) !== undefined).map(({ name }) => name)),
    );
    return JSON.parse(body.toString("utf8")).includes(tool);
  } catch (error) {
    if (!refusalOfDescription(error, exchange.reply.raw)) log.warn({ err: error }, "tools not described");
    return true;
  }
}

async function keyWithTools(context: Context, exchange: McpExchange): Promise<KeyVerdict> {
  exchange.key ??= await verifyUncounted(context, exchange.request, exchange.request.ip);
  if (!exchange.key) throw new Error("the key is not valid any more");
  return exchange.key;
}
