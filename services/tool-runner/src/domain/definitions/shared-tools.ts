import type { JsonObject } from "@toolgate/rules/json-object";
import type { HostFunctionName } from "../host-functions.ts";
import { DEFAULT_TIMEOUT_MS, type Definition, MAX_RESULT_BYTES } from "./definition.ts";

const STRING = { type: "string" };
const RANGE = { type: "string", description: "A1 or A1:B2" };

/** Tools that every workspace has. Tools and assistants may call them; they are never released to API keys. */
export const SHARED_TOOLS: Readonly<Record<string, Definition>> = {
  emitWebhookEvent: sharedTool(
    "Reports a custom event to the workspace's webhooks.",
    { name: STRING, data: { type: "object" } },
    ["name", "data"],
  ),
  executePreparedQuery: sharedTool(
    "Runs a prepared query of the workspace.",
    { name: STRING, args: { type: "object" } },
    ["name"],
  ),
  executeQuery: sharedTool("Runs a statement that was not prepared.", { sql: STRING }, ["sql"]),
  writeToSheet: sharedTool(
    "Writes rows of cells into a sheet.",
    { sheet: STRING, range: RANGE, values: { type: "array", items: { type: "array" } } },
    ["sheet", "range", "values"],
  ),
  clearFromSheet: sharedTool(
    "Empties cells of a sheet.",
    { sheet: STRING, range: { ...RANGE, description: "A1 or A1:B2; the whole sheet without it" } },
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
    timeoutMs: DEFAULT_TIMEOUT_MS,
    maxResultBytes: MAX_RESULT_BYTES,
    body: { kind: "shared" },
  };
}

/** The host function that a shared tool calls, with its positional arguments. */
export function hostCallOf(tool: string, args: JsonObject): { name: HostFunctionName; args: unknown[] } {
  if (tool === "emitWebhookEvent") return { name: "emitWebhook", args: [args.name, args.data] };
  if (tool === "executePreparedQuery") return { name: tool, args: [args.name, args.args] };
  if (tool === "executeQuery") return { name: tool, args: [args.sql] };
  if (tool === "writeToSheet") return { name: tool, args: [args.sheet, args.range, args.values] };
  return { name: "clearFromSheet", args: [args.sheet, args.range] };
}
