import type { Management } from "@toolgate/local/demo/management";
import { inTurns } from "../calls/tool-and-keys.ts";
import { TOOLS } from "./fill-keys.ts";
import type { RequestCase } from "./measure-requests.ts";

const AT_ONCE = 8;
const HANDLER = "export default async (args) => ({ success: true, args });";

/** Tools with arguments of the usual size, released for keys. */
export async function saveTools(manage: Management): Promise<void> {
  const numbers = Array.from({ length: TOOLS }, (_, index) => index);
  await inTurns(numbers, AT_ONCE, (number) => saveTool(manage, number, "first"));
}

/**
 * The OpenAPI document of a key that lists all tools: as it stands in the gateway's memory, and made anew after a tool
 * was changed.
 */
export async function documentCases(manage: Management, baseUrl: string): Promise<RequestCase[]> {
  const tools = Array.from({ length: TOOLS }, (_, index) => `tool_${index}`);
  const { secret } = await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", { name: "All tools", tools });
  const send = async () => {
    const response = await fetch(`${baseUrl}/api/v1/openapi.json`, { headers: { authorization: `Bearer ${secret}` } });
    const { paths } = (await response.json()) as { paths?: object };
    return Object.keys(paths ?? {}).length;
  };
  return [
    { name: "again", send },
    { name: "first after a tool was changed", before: (n) => saveTool(manage, n % TOOLS, `change ${n}`), send },
  ];
}

async function saveTool(manage: Management, number: number, change: string): Promise<void> {
  const parameters = {
    type: "object",
    properties: {
      customer: { type: "string", maxLength: 100, description: "Number or name of the customer." },
      from: { type: "string", format: "date" },
      lines: {
        type: "array",
        maxItems: 50,
        items: {
          type: "object",
          properties: { article: { type: "string" }, count: { type: "integer", minimum: 1 } },
          required: ["article"],
        },
      },
      mode: { enum: ["draft", "final"] },
    },
    required: ["customer"],
  };
  const description = `Tool number ${number} of the benchmark, ${change}.`;
  const definition = { description, external_api: true, parameters, handler: HANDLER };
  await manage("tool_runner.v1.ToolService/SaveTool", { name: `tool_${number}`, definition, confirmExposure: true });
}
