import type { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { notFound } from "../change.ts";
import { findMessage } from "./assistant-message.ts";

export const getAssistant: Handler<Context, typeof AssistantService.method.getAssistant> = async (
  { pool },
  { name },
  call,
) => {
  const assistant = await findMessage(pool, principalOf(call).workspaceId, name);
  if (!assistant) throw notFound("assistant");
  return { assistant };
};
