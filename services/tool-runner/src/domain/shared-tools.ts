import type { Definition } from "./definition.ts";
import type { HostFunctionName } from "./host-functions.ts";
import type { JsonObject } from "./json-object.ts";

const TIMEOUT_MS = 30_000;
const MAX_RESULT_BYTES = 1024 * 1024;

/** Tools that every workspace has. They are called by tools and assistants, and are never released to keys. */
export const SHARED_TOOLS: Readonly<Record<string, Definition>> = {
  emitWebhookEvent: sharedTool(
    "Reports a custom event to the workspace's webhooks.",
    { name: { type: "string" }, data: { type: "object" } },
    ["name", "data"],
  ),
  executePreparedQuery: sharedTool(
    "Runs a prepared query of the workspace.",
    { name: { type: "string" }, args: { type: "object" } },
    ["name"],
  ),
  executeQuery: sharedTool("Runs a statement that was not prepared.", { sql: { type: "string" } }, ["sql"]),
  writeToSheet: sharedTool(
    "Writes rows of cells into a sheet.",
    {
      sheet: { type: "string" },
      range: { type: "string", description: "A1 or A1:B2" },
      values: { type: "array", items: { type: "array" } },
    },
    ["sheet", "range", "values"],
  ),
  clearFromSheet: sharedTool(
    "Empties cells of a sheet.",
    { sheet: { type: "string" }, range: { type: "string", description: "A1 or A1:B2; all of the sheet without it" } },
    ["sheet"],
  ),
};

function sharedTool(description: string, properties: JsonObject, required: string[]): Definition {
  return {
    description,
    parameters: { type: "object", properties, required },
    externalApi: false,
    externalApiWrite: false,
    publicApi: false,
    inboundHook: false,
    inboundHookWrite: false,
    webhookEvent: false,
    async: false,
    externalApiDescription: undefined,
    externalApiResponse: undefined,
    argsFixture: undefined,
    timeoutMs: TIMEOUT_MS,
    maxResultBytes: MAX_RESULT_BYTES,
    body: { kind: "shared" },
  };
}

export function isSharedTool(name: string): boolean {
  return Object.hasOwn(SHARED_TOOLS, name);
}

/** The positional arguments of the host function that a shared tool stands for. */
export function hostCallOf(tool: string, args: JsonObject): { name: HostFunctionName; args: unknown[] } {
  if (tool === "emitWebhookEvent") return { name: "emitWebhook", args: [args.name, args.data] };
  if (tool === "executePreparedQuery") return { name: tool, args: [args.name, args.args] };
  if (tool === "executeQuery") return { name: tool, args: [args.sql] };
  if (tool === "writeToSheet") return { name: tool, args: [args.sheet, args.range, args.values] };
  return { name: "clearFromSheet", args: [args.sheet, args.range] };
}
