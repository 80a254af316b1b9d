import { isDeepStrictEqual } from "node:util";
import { create } from "@bufbuild/protobuf";
import { type AssistantDefinition, AssistantDefinitionSchema } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";

/** [EXPO-1] The guarded flags that exist for assistants. */
const GUARDED_FLAGS = [
  ["inbound_hook", "inboundHook"],
  ["inbound_hook_write", "inboundHookWrite"],
] as const;

/** [EXPO-3] [EXPO-5] [EXPO-6] The guarded flags that a save turns on; `before` is undefined for a new assistant. */
export function newlyExposed(before: AssistantDefinition | undefined, after: AssistantDefinition): string[] {
  return GUARDED_FLAGS.filter(([, flag]) => after[flag] && !before?.[flag]).map(([name]) => name);
}

/** [IN-55] Whether hooks may run it. */
export function isReleasedForHooks(definition: AssistantDefinition | undefined): definition is AssistantDefinition {
  return definition?.inboundHook === true;
}

/** [IN-56] [IN-57] Whether its tools may only read when a hook runs it. */
export function runsReadOnlyForHooks({ inboundHookWrite }: AssistantDefinition): boolean {
  return !inboundHookWrite;
}

/** The names of the fields in which two definitions differ, in the order of the proto. */
export function changedFields(before: AssistantDefinition | undefined, after: AssistantDefinition): string[] {
  const old = before ?? create(AssistantDefinitionSchema);
  return AssistantDefinitionSchema.fields
    .filter(({ localName }) => {
      const field = localName as Exclude<keyof AssistantDefinition, `$${string}`>;
      return !isDeepStrictEqual(old[field], after[field]);
    })
    .map(({ name }) => name);
}
