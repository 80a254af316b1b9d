import type { JsonObject } from "@toolgate/rules/json-object";
import { portableSchema, separatedSchema } from "./json-schema.ts";
import { exampleOf } from "./schema-example.ts";

/** What `describe` tells about a saved definition, with the tool's name. The texts are JSON, and empty if there is nothing to say. */
export interface CallableTool {
  name: string;
  description: string;
  parametersJson: string;
  responseJson: string;
  /** The fixture's declared arguments. */
  argsFixtureJson: string;
  readOnly: boolean;
  mayWrite: boolean;
}

/** What the owner of an API key is told about a tool. */
export interface DescribedTool {
  name: string;
  description: string;
  /** One sentence on what a call may change. */
  effect: string;
  args: JsonObject;
  result: JsonObject;
  /** What the two refer to, with the names that stand at the end of `pointerTo`'s pointers. */
  definitions: [name: string, schema: unknown][];
  /** Arguments to show; undefined when none are found that pass the schema. */
  example: unknown;
}

/** [RO-8] [RO-9] [BLD-23] Callers need to know this before they let an agent call the tool. */
export const EFFECTS = {
  writes: "May write.",
  reads: "Reads only.",
  other: "Writes no data of the workspace, but may send email and call other services.",
} as const;

function effectOf({ readOnly, mayWrite }: CallableTool): string {
  if (mayWrite) return EFFECTS.writes;
  return readOnly ? EFFECTS.reads : EFFECTS.other;
}

const SAFE_NAME = /^[A-Za-z0-9_-]+$/;

/** [OAPI] The result of a tool without a response schema: typed clients drop members that an object does not declare. */
const ANY_RESULT: JsonObject = { type: "object", additionalProperties: true };

/** `pointerTo`: the JSON pointer to the schema of the arguments or the result in the document. */
export function describedTool(
  tool: CallableTool,
  pointerTo: (tool: string, part: "args" | "result") => string,
): DescribedTool {
  const { name, description } = tool;
  const separated = (part: "args" | "result", schema: unknown) => {
    const base = pointerTo(name, part);
    const { definitions, ...rest } = separatedSchema(schema, base, (definition) => `${base}.${safeName(definition)}`);
    const named = definitions.map(([of, one]): [string, unknown] => [`${name}.${part}.${safeName(of)}`, one]);
    return { ...rest, definitions: named };
  };
  const parameters = separated("args", parsed(tool.parametersJson));
  const args = asArguments(parameters.schema);
  const response = parsed(tool.responseJson);
  const returned = separated("result", response);
  const result = response === undefined ? ANY_RESULT : returned.schema;
  // [BLD-5] `describe` has reduced the fixture to the declared arguments.
  const example = parsed(tool.argsFixtureJson) ?? exampleOf(args);
  const definitions = [...parameters.definitions, ...returned.definitions];
  return { name, description, effect: effectOf(tool), args, result, definitions, example };
}

/** A definition's name as a part of a component's; the dot keeps the second form apart from the first. */
function safeName(name: string): string {
  if (SAFE_NAME.test(name)) return name;
  const bytes = [...new TextEncoder().encode(name)];
  return `hex.${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The schema of a tool's arguments, for another document: `base` is the JSON pointer of its place there. */
export function argumentsSchema({ parametersJson }: CallableTool, base: string): JsonObject {
  return asArguments(portableSchema(parsed(parametersJson), base));
}

/** The arguments are always an object, even where the schema leaves that open. */
function asArguments(schema: JsonObject): JsonObject {
  return { properties: {}, ...schema, type: "object" };
}

function parsed(json: string): unknown {
  return json === "" ? undefined : JSON.parse(json);
}
