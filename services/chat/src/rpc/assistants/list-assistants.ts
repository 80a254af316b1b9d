import type { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listAssistants as listRows } from "../../store/assistants.ts";
import { readSettings } from "../../store/settings.ts";
import { assistantMessage, builtInMessage } from "./assistant-message.ts";

export const listAssistants: Handler<Context, typeof AssistantService.method.listAssistants> = async (
  { pool },
  _request,
  call,
) => {
  const { workspaceId } = principalOf(call);
  const settings = await readSettings(pool, workspaceId);
  if (settings.defaultAssistant === null) return { assistants: [builtInMessage()] };
  const rows = await listRows(pool, workspaceId);
  return { assistants: rows.map((row) => assistantMessage(row, settings)) };
};
