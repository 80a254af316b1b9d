import type { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listAssistantVersions as listRows } from "../../store/assistants.ts";
import { notFound } from "../change.ts";
import { assistantMessage, findMessage } from "./assistant-message.ts";

export const listAssistantVersions: Handler<Context, typeof AssistantService.method.listAssistantVersions> = async (
  { pool },
  { name },
  call,
) => {
  const { workspaceId } = principalOf(call);
  const newest = await findMessage(pool, workspaceId, name);
  if (!newest) throw notFound("assistant");
  if (newest.version === 0) return { versions: [newest] };
  const rows = await listRows(pool, workspaceId, name);
  const settings = { defaultAssistant: newest.isDefault ? name : null };
  return { versions: rows.map((row) => assistantMessage(row, settings)) };
};
