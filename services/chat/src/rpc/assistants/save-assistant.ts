import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type AssistantDefinition,
  AssistantDefinitionSchema,
  type AssistantService,
} from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { editConflict } from "@toolgate/service-host/edit-conflict";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { definitionViolations, nameViolation } from "../../domain/assistants/check-definition.ts";
import { changedFields, newlyExposed } from "../../domain/assistants/exposure.ts";
import { type AssistantRow, findAssistant, insertAssistantVersion, listAssistants } from "../../store/assistants.ts";
import { findModelServers } from "../../store/model-servers.ts";
import { saveSettings } from "../../store/settings.ts";
import { type Change, changeWorkspace, refuseIf } from "../change.ts";
import { assistantMessage } from "./assistants.ts";

const MAX_ASSISTANTS = 100;

export const saveAssistant: Handler<Context, typeof AssistantService.method.saveAssistant> = async (
  context,
  { name, definition = create(AssistantDefinitionSchema), confirmExposure, expectedVersion },
  call,
) => {
  refuseIf(nameViolation(name), ...definitionViolations(definition));
  const { workspaceId } = principalOf(call);
  if (definition.tools.length > 0) {
    const found = await context.describeTools(workspaceId, definition.tools);
    refuseIf(missing("tool", definition.tools, found));
  }
  const assistant = await changeWorkspace(context, call, (change) =>
    saveVersion(change, { name, definition, confirmExposure, expectedVersion }),
  );
  return { assistant };
};

interface Saved {
  name: string;
  definition: AssistantDefinition;
  confirmExposure: boolean;
  /** The version that the save may replace, 0 for none; undefined for any. */
  expectedVersion: number | undefined;
}

/** [EXPO-3] [EXPO-4] Aborted is HTTP 409. */
async function saveVersion(change: Change, { name, definition, confirmExposure, expectedVersion }: Saved) {
  const { client, principal, settings, now, audit } = change;
  const { workspaceId, email } = principal;
  refuseIf(missing("model", definition.models, await findModelServers(client, workspaceId, definition.models)));
  const before = await findAssistant(client, workspaceId, name);
  mustBeExpected(before, expectedVersion);
  if (!before && (await listAssistants(client, workspaceId)).length >= MAX_ASSISTANTS)
    throw new ConnectError(`at most ${MAX_ASSISTANTS} assistants`, Code.ResourceExhausted);
  const exposed = newlyExposed(before?.definition, definition);
  if (exposed.length > 0 && !confirmExposure)
    throw new ConnectError(`newly exposed by ${exposed.join(", ")}: repeat with confirm_exposure=true`, Code.Aborted);
  await audit(before ? "assistant.edit" : "assistant.create", name, changedFields(before?.definition, definition));
  if (exposed.length > 0) await audit("assistant.expose", name, exposed);
  // It takes the place of the built-in one.
  const defaultAssistant = settings.defaultAssistant ?? name;
  if (settings.defaultAssistant === null) await saveSettings(client, workspaceId, { ...settings, defaultAssistant });
  const row = await insertAssistantVersion(client, { workspaceId, name, definition, savedAt: now, savedBy: email });
  return assistantMessage(row, { defaultAssistant });
}

function mustBeExpected(before: AssistantRow | undefined, expected: number | undefined): void {
  if (expected === undefined || expected === (before?.version ?? 0)) return;
  if (before) throw editConflict(before);
  throw new ConnectError("the assistant was deleted after you opened it", Code.Aborted);
}

function missing(
  what: "tool" | "model",
  wanted: readonly string[],
  found: readonly { name: string }[],
): string | undefined {
  const names = new Set(found.map(({ name }) => name));
  const absent = wanted.filter((name) => !names.has(name));
  return absent.length > 0 ? `${what}s: no such ${what}: ${absent.join(", ")}` : undefined;
}
