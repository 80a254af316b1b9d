import { Code, ConnectError } from "@connectrpc/connect";
import type { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { BUILT_IN_DEFINITION, BUILT_IN_NAME } from "../../domain/assistants/built-in.ts";
import {
  type AssistantRow,
  deleteAssistant,
  findAssistant,
  listAssistants,
  listAssistantVersions,
} from "../../store/assistants.ts";
import { type ChatSettingsRow, readSettings, saveSettings } from "../../store/settings.ts";
import { changeWorkspace, notFound } from "../change.ts";

export const assistantHandlers = {
  async getAssistant({ pool }, { name }, call) {
    return { assistant: await messageOf(pool, principalOf(call).workspaceId, name) };
  },

  async listAssistants({ pool }, _request, call) {
    const { workspaceId } = principalOf(call);
    const settings = await readSettings(pool, workspaceId);
    if (settings.defaultAssistant === null) return { assistants: [BUILT_IN] };
    const rows = await listAssistants(pool, workspaceId);
    return { assistants: rows.map((row) => assistantMessage(row, settings)) };
  },

  async listAssistantVersions({ pool }, { name }, call) {
    const { workspaceId } = principalOf(call);
    const newest = await messageOf(pool, workspaceId, name);
    if (newest.version === 0) return { versions: [newest] };
    const rows = await listAssistantVersions(pool, workspaceId, name);
    const settings = { defaultAssistant: newest.isDefault ? name : null };
    return { versions: rows.map((row) => assistantMessage(row, settings)) };
  },

  setDefaultAssistant: (context, { name }, call) =>
    changeWorkspace(context, call, async ({ client, principal: { workspaceId }, settings, audit }) => {
      if (!(await findAssistant(client, workspaceId, name))) throw notFound("assistant");
      if (settings.defaultAssistant === name) return {};
      await saveSettings(client, workspaceId, { ...settings, defaultAssistant: name });
      await audit("assistant.default", name);
      return {};
    }),

  deleteAssistant: (context, { name }, call) =>
    changeWorkspace(context, call, async ({ client, principal: { workspaceId }, settings, audit }) => {
      if (settings.defaultAssistant === name)
        throw new ConnectError(
          "the default assistant cannot be deleted: set another default first",
          Code.FailedPrecondition,
        );
      if (!(await deleteAssistant(client, workspaceId, name))) throw notFound("assistant");
      await audit("assistant.delete", name);
      return {};
    }),
} satisfies Handlers<Context, typeof AssistantService>;

/** The assistant that a workspace has until it saves one. */
const BUILT_IN = { name: BUILT_IN_NAME, version: 0, definition: BUILT_IN_DEFINITION, isDefault: true, savedBy: "" };

/** `defaultAssistant` is null while the workspace has the built-in one. */
export function assistantMessage(
  { savedAt, ...row }: AssistantRow,
  { defaultAssistant }: Pick<ChatSettingsRow, "defaultAssistant">,
) {
  return { ...row, isDefault: row.name === defaultAssistant, savedAt: timestampOf(savedAt) };
}

async function messageOf(db: Queryable, workspaceId: string, name: string) {
  const [row, settings] = [await findAssistant(db, workspaceId, name), await readSettings(db, workspaceId)];
  if (row) return assistantMessage(row, settings);
  if (settings.defaultAssistant === null && name === BUILT_IN_NAME) return BUILT_IN;
  throw notFound("assistant");
}
