import type { ConnectRouter } from "@connectrpc/connect";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { AssistantRunService } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { ChatLogService } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { bind } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { assistantRunHandlers } from "./assistant-runs.ts";
import { assistantHandlers } from "./assistants/assistants.ts";
import { chatSettingsHandlers } from "./assistants/chat-settings.ts";
import { saveAssistant } from "./assistants/save-assistant.ts";
import { chatLogHandlers } from "./chat-log.ts";
import { chatHandlers } from "./chats/chats.ts";
import { getHistory } from "./chats/get-history.ts";
import { messageHandlers } from "./chats/send-message.ts";
import { uploadFile } from "./chats/upload-file.ts";
import { modelHandlers } from "./models/models.ts";
import { saveModelHandlers } from "./models/save-model.ts";
import { usageHandlers } from "./models/usage.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(ChatService, bind(context, { ...chatHandlers, ...messageHandlers, getHistory, uploadFile }));
  router.service(ChatLogService, bind(context, chatLogHandlers));
  router.service(AssistantService, bind(context, { ...assistantHandlers, ...chatSettingsHandlers, saveAssistant }));
  router.service(ModelService, bind(context, { ...modelHandlers, ...saveModelHandlers, ...usageHandlers }));
  router.service(AssistantRunService, bind(context, assistantRunHandlers));
}
