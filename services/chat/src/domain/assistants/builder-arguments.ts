import { isJsonObject, type JsonObject, ownValue } from "@toolgate/rules/json-object";
import { BUILDER_TOOLS, RELEASE_FLAGS } from "./builder-tools.ts";

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
