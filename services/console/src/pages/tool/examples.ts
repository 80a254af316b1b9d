import { create, type JsonObject } from "@bufbuild/protobuf";
import { type Tool, ToolKind, ToolSchema } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";

type Kind = "handler" | "api" | "query";

const HANDLER = `export default async (args, ctx) => {
  ctx.log("greeting", args.name);
  return { success: true, greeting: \`Hello, \${args.name}!\` };
};
`;

const name = { type: "string", description: "Who is greeted" };
const id = { type: "integer", description: "The order's number" };

/** Each runs as it is, once its host or its query exists. */
const EXAMPLES: Readonly<Record<Kind, JsonObject>> = {
  handler: {
    description: "Greets somebody by name",
    parameters: { type: "object", properties: { name }, required: ["name"] },
    args_fixture: { name: "Ada" },
    handler: HANDLER,
  },
  api: {
    description: "Reads an order from the shop",
    parameters: { type: "object", properties: { id }, required: ["id"] },
    args_fixture: { id: 17 },
    api: { method: "GET", url: "https://shop.example/orders/{{id}}", headers: { accept: "application/json" } },
  },
  query: {
    description: "Lists the orders of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    args_fixture: { city: "Bern" },
    query: "orders_of",
  },
};
const KINDS = { handler: ToolKind.HANDLER, api: ToolKind.API, query: ToolKind.QUERY } as const;

/** A tool of version 0: one that is not saved yet. */
export function exampleTool(toolName: string, kind: Kind): Tool {
  return create(ToolSchema, { name: toolName, kind: KINDS[kind], definition: EXAMPLES[kind] });
}
