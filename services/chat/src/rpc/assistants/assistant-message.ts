import type { Queryable } from "@toolgate/postgres/pool";
import { timestampOf } from "@toolgate/service-host/time";
import { BUILT_IN_DEFINITION, BUILT_IN_NAME } from "../../domain/assistants/built-in.ts";
import { type AssistantRow, findAssistant } from "../../store/assistants.ts";
import { type ChatSettingsRow, readSettings } from "../../store/settings.ts";

/** `defaultAssistant` is null while the workspace has the built-in one. */
export function assistantMessage(
  { name, version, definition, savedAt, savedBy }: AssistantRow,
  { defaultAssistant }: Pick<ChatSettingsRow, "defaultAssistant">,
) {
  return {
    name,
    version,
    definition,
    isDefault: name === defaultAssistant,
    savedAt: timestampOf(savedAt),
    savedBy,
  };
}

/** The assistant that a workspace has until it saves one. */
export function builtInMessage() {
  return { name: BUILT_IN_NAME, version: 0, definition: BUILT_IN_DEFINITION, isDefault: true, savedBy: "" };
}

/** Undefined when there is no such assistant. */
export async function findMessage(db: Queryable, workspaceId: string, name: string) {
  const [row, settings] = [await findAssistant(db, workspaceId, name), await readSettings(db, workspaceId)];
  if (row) return assistantMessage(row, settings);
  return settings.defaultAssistant === null && name === BUILT_IN_NAME ? builtInMessage() : undefined;
}
