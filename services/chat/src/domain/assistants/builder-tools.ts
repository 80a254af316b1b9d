import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import type { ModelTool } from "../../models/model.ts";

/** [EXPO-1] The flags that let callers outside use a tool. */
export const RELEASE_FLAGS = [
  "external_api",
  "external_api_write",
  "inbound_hook",
  "inbound_hook_write",
  "public_api",
] as const;

const TEXT = { type: "string" };
const FLAG = { type: "boolean" };
const TOOL = { type: "string", description: "The tool's name" };

/** What the builder assistant may call. None of it changes a tool. */
export const BUILDER_TOOLS: readonly ModelTool[] = [
  builderTool("list_tools", "Lists the workspace's tools, at most 100, with their flags.", {
    search: { ...TEXT, description: "Only tools whose name or description contains this" },
  }),
  builderTool("get_tool", "Shows the whole definition of a tool.", { tool: TOOL }, ["tool"]),
  builderTool(
    "propose_release",
    "Proposes to the user to set flags of a tool, or to remove those that are false.",
    {
      tool: TOOL,
      flags: {
        type: "object",
        properties: Object.fromEntries(RELEASE_FLAGS.map((name) => [name, FLAG])),
        additionalProperties: false,
      },
    },
    ["tool", "flags"],
  ),
  builderTool(
    "propose_change",
    "Proposes to the user to change members of a tool's definition.",
    { tool: TOOL, changes: { type: "object", description: "Members with their new values; null removes one" } },
    ["tool", "changes"],
  ),
  builderTool("last_proposal", "Says what became of the last proposal in this chat.", {}),
];

function builderTool(
  name: string,
  description: string,
  properties: Record<string, unknown>,
  required: string[] = [],
): ModelTool {
  return { name, description, parameters: { type: "object", properties, required, additionalProperties: false } };
}

/** What is wrong with the arguments, as far as tool-runner does not check them. */
export function argumentsFault(tool: string, args: JsonObject): string | undefined {
  const { properties = {}, required } = BUILDER_TOOLS.find(({ name }) => name === tool)?.parameters ?? {};
  const types = properties as Record<string, { type: string }>;
  const unknown = Object.keys(args).find((name) => ownValue(types, name) === undefined);
  if (unknown !== undefined) return `${unknown}: there is no such argument`;
  const missing = (required as string[]).find((name) => ownValue(args, name) === undefined);
  if (missing !== undefined) return `${missing}: is missing`;
  const wrong = Object.entries(args).find(([name, value]) =>
    types[name]?.type === "object" ? !isJsonObject(value) : typeof value !== "string",
  );
  if (wrong) return `${wrong[0]}: must be ${types[wrong[0]]?.type === "object" ? "an object" : "a string"}`;
  return tool === "propose_release" ? flagsFault(args.flags as JsonObject) : undefined;
}

function flagsFault(flags: JsonObject): string | undefined {
  const unknown = Object.keys(flags).find((name) => !RELEASE_FLAGS.some((flag) => flag === name));
  if (unknown !== undefined) return `flags.${unknown}: there is no such flag`;
  const wrong = Object.keys(flags).find((name) => typeof flags[name] !== "boolean");
  return wrong === undefined ? undefined : `flags.${wrong}: must be true or false`;
}
