import type { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { findAssistant } from "../../store/assistants.ts";
import { saveSettings } from "../../store/settings.ts";
import { changeWorkspace, notFound } from "../change.ts";

export const setDefaultAssistant: Handler<Context, typeof AssistantService.method.setDefaultAssistant> = (
  context,
  { name },
  call,
) =>
  changeWorkspace(context, call, async ({ client, principal: { workspaceId }, settings, audit }) => {
    if (!(await findAssistant(client, workspaceId, name))) throw notFound("assistant");
    if (settings.defaultAssistant === name) return {};
    await saveSettings(client, workspaceId, { ...settings, defaultAssistant: name });
    await audit("assistant.default", name);
    return {};
  });
