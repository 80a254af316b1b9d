import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Tool,
} from "@modelcontextprotocol/server";
import { argumentsSchema } from "@toolgate/api-examples/described-tool";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { isDeeperThan } from "@toolgate/rules/json-object";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Context } from "../../context.ts";
import {
  type ApiResponse,
  DESCRIPTION_TOO_LARGE,
  INTERNAL_ERROR,
  SERVER_BUSY,
  UNAUTHENTICATED,
  type Violation,
} from "../../domain/responses.ts";
import { takeSlot } from "../slots.ts";
import { logCall, refusalOf, runVerified, type VerifiedCall, verifyCall } from "../tools/verified-call.ts";
import { MAX_JSON_LEVELS } from "./mcp-message.ts";

/** One HTTP request of an MCP client, and its outcome if it called a tool. */
export interface McpExchange {
  /** With its list of tools. */
  key: KeyVerdict;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Why the arguments of a call cannot be used. The call is counted and logged all the same. */
  fault?: Violation | undefined;
  call?: VerifiedCall;
  response?: ApiResponse;
  /** Why the list of tools is not sent. */
  refusal?: ApiResponse | undefined;
}

const SERVER = { name: "toolgate", version: "1" };
/** All but the one that demands batches. */
const VERSIONS = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version !== "2025-03-26");
/** What clients get when something here fails. */
const INTERNAL_MESSAGE = "Interner Fehler";

/** Offers the tools of one key for one request; no state remains after it. */
export function mcpServer(context: Context, exchange: McpExchange): Server {
  const server = new Server(SERVER, { capabilities: { tools: {} }, supportedProtocolVersions: VERSIONS });
  server.setRequestHandler("tools/list", async () => {
    const tools = await offeredTools(context, exchange).catch((error: unknown) => {
      context.log.error({ err: error, keyId: exchange.key.keyId }, "tools not described");
      return undefined;
    });
    if (Array.isArray(tools)) return { tools };
    exchange.refusal = tools;
    throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_MESSAGE);
  });
  server.setRequestHandler("tools/call", async ({ params }) => {
    const { name, arguments: args = {} } = params;
    exchange.response = await callTool(context, exchange, name, args).catch((error: unknown) => {
      context.log.error({ err: error, keyId: exchange.key.keyId }, "tool call failed unexpectedly");
      return INTERNAL_ERROR;
    });
    return resultOf(exchange.response);
  });
  return server;
}

/** The tools of the key, or why they are not described. */
async function offeredTools(context: Context, { key, reply }: McpExchange): Promise<Tool[] | ApiResponse> {
  using slot = await takeSlot(context.slots.descriptions, key.workspaceId, reply.raw);
  if (!slot) return SERVER_BUSY;
  const made = await context.descriptions(key, "mcp", ({ tools }) => JSON.stringify(tools.map(offeredTool)));
  return made === "too large" ? DESCRIPTION_TOO_LARGE : JSON.parse(made.body.toString("utf8"));
}

/** Without an output schema: clients refuse every result that does not fit one, and nothing makes a tool's results fit. */
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
  const { request, fault } = exchange;
  const call = await verifyCall(context, request, tool);
  if (!call) return UNAUTHENTICATED;
  exchange.call = call;
  const body = Buffer.from(JSON.stringify({ args }));
  const refusal = refusalOf(call, context.now());
  const response = refusal ?? (await runVerified(context, call, request, { body, violation: fault }));
  await logCall(context, call, response.status);
  return response;
}

/** What is nested very deeply is only text: writing it as JSON again would overflow the stack, here and in the SDK. */
function resultOf({ status, body }: ApiResponse): CallToolResult {
  const text = body.toString("utf8");
  const structuredContent = JSON.parse(text);
  const isDeep = isDeeperThan(structuredContent, MAX_JSON_LEVELS);
  return {
    content: [{ type: "text", text }],
    ...(!isDeep && { structuredContent }),
    // [TOOL-12] Also what a tool returned to say that it failed.
    isError: status !== 200 || structuredContent.success === false,
  };
}
