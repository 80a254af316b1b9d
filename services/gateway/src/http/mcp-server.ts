import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server, type Tool } from "@modelcontextprotocol/server";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { ToolDescription } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { DescribeTools } from "../clients/tool-descriptions.ts";
import { type Answer, INTERNAL_ERROR, UNAUTHENTICATED, type Violation } from "../domain/answers.ts";
import { argumentsSchema } from "../domain/described-tool.ts";
import { sorted } from "../domain/openapi.ts";
import type { DescriptionCache } from "./description-cache.ts";
import {
  type AdmittedCall,
  beginCall,
  logCall,
  refusalOf,
  runAdmitted,
  type ToolCallDependencies,
} from "./tool-call.ts";

export interface McpDependencies {
  calls: ToolCallDependencies;
  describeTools: DescribeTools;
  descriptions: DescriptionCache;
}

/** One HTTP request of an MCP client, and what became of it. */
export interface McpExchange {
  key: KeyVerdict;
  apiKey: string;
  clientIp: string;
  idempotencyKey: string;
  /** What is wrong with the request beside the tool's arguments. */
  bodyFault: Violation | undefined;
  /** Set by the call of a tool. */
  call?: AdmittedCall;
  answer?: Answer;
}

const SERVER = { name: "toolgate", version: "1" };

/** Offers the tools of one key for one request; nothing is kept between requests. */
export function mcpServer(deps: McpDependencies, exchange: McpExchange): Server {
  const server = new Server(SERVER, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => {
    const offered = await offeredTools(deps, exchange.key).catch((error: unknown) => {
      deps.calls.log.error({ err: error, keyId: exchange.key.keyId }, "tools not described");
      throw new ProtocolError(ProtocolErrorCode.InternalError, "Interner Fehler");
    });
    return { tools: offered };
  });
  server.setRequestHandler("tools/call", async ({ params }) => {
    const answer = await callTool(deps.calls, exchange, params.name, params.arguments ?? {}).catch((error: unknown) => {
      deps.calls.log.error({ err: error, keyId: exchange.key.keyId }, "tool call failed unexpectedly");
      return INTERNAL_ERROR;
    });
    exchange.answer = answer;
    return resultOf(answer);
  });
  return server;
}

async function offeredTools({ descriptions, describeTools }: McpDependencies, key: KeyVerdict): Promise<Tool[]> {
  const { body } = await descriptions.get(key, "mcp", async () =>
    JSON.stringify(sorted(await describeTools(key)).map(offeredTool)),
  );
  return JSON.parse(body.toString("utf8"));
}

/** Without an output schema: clients refuse what does not match one, and no tool is held to its own. */
function offeredTool(tool: ToolDescription): Tool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: argumentsSchema(tool, "#") as Tool["inputSchema"],
    annotations: { readOnlyHint: tool.readOnly },
  };
}

async function callTool(
  deps: ToolCallDependencies,
  exchange: McpExchange,
  tool: string,
  args: Record<string, unknown>,
): Promise<Answer> {
  const { apiKey, clientIp, bodyFault, idempotencyKey } = exchange;
  const call = await beginCall(deps, { apiKey, tool, clientIp });
  if (!call) return UNAUTHENTICATED;
  exchange.call = call;
  const body = Buffer.from(JSON.stringify({ args }));
  const answer = refusalOf(call) ?? (await runAdmitted(deps, call, { body, bodyFault, idempotencyKey }));
  await logCall(deps, call, answer.status);
  return answer;
}

function resultOf({ status, body }: Answer): CallToolResult {
  const text = body.toString("utf8");
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text), isError: status !== 200 };
}
