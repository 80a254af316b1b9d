import { fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type Assistant,
  type AssistantDefinition,
  AssistantDefinitionSchema,
} from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Versioned } from "../definition/versioned.ts";

/** With its definition as JSON, whose members have the names of the proto file, as in the RPCs. */
export function versionOf({ name, version, definition, savedAt, savedBy }: Assistant): Versioned {
  const json = definition && (toJson(AssistantDefinitionSchema, definition, { useProtoFieldName: true }) as JsonObject);
  return { name, version, definition: json ?? {}, savedAt, savedBy };
}

/** Throws what a save would be refused with. */
export function definitionOf(json: JsonObject): AssistantDefinition {
  try {
    return fromJson(AssistantDefinitionSchema, json);
  } catch (error) {
    throw new ConnectError(error instanceof Error ? error.message : "not a definition", Code.InvalidArgument);
  }
}

/** The names in a member of a definition. */
export function namesIn(definition: JsonObject, member: "models" | "tools" | "suggestions"): readonly string[] {
  const value = definition[member];
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
