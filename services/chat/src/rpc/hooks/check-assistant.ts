import type { AssistantRunService } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { isReleasedForHooks } from "../../domain/assistants/exposure.ts";
import { findDefinition } from "../../store/assistants.ts";

export const checkAssistant: Handler<Context, typeof AssistantRunService.method.checkAssistant> = async (
  { pool },
  { workspaceId, assistant },
) => {
  const definition = await findDefinition(pool, workspaceId, assistant);
  return { exists: definition !== undefined, released: isReleasedForHooks(definition) };
};
