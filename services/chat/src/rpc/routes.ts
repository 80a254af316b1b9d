import type { ConnectRouter } from "@connectrpc/connect";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { AssistantRunService } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { ChatLogService } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { bind } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { deleteAssistant } from "./assistants/delete-assistant.ts";
import { getAssistant } from "./assistants/get-assistant.ts";
import { getChatSettings } from "./assistants/get-chat-settings.ts";
import { listAssistantVersions } from "./assistants/list-assistant-versions.ts";
import { listAssistants } from "./assistants/list-assistants.ts";
import { saveAssistant } from "./assistants/save-assistant.ts";
import { setDefaultAssistant } from "./assistants/set-default-assistant.ts";
import { updateChatSettings } from "./assistants/update-chat-settings.ts";
import { getToolCall } from "./chat-log/get-tool-call.ts";
import { listChats } from "./chat-log/list-chats.ts";
import { checkOrigin } from "./chats/check-origin.ts";
import { getHistory } from "./chats/get-history.ts";
import { readEvents } from "./chats/read-events.ts";
import { resetChat } from "./chats/reset-chat.ts";
import { sendMessage } from "./chats/send-message.ts";
import { startTurn } from "./chats/start-turn.ts";
import { stopTurn } from "./chats/stop-turn.ts";
import { uploadFile } from "./chats/upload-file.ts";
import { checkAssistant } from "./hooks/check-assistant.ts";
import { runForHook } from "./hooks/run-for-hook.ts";
import { deleteModel } from "./models/delete-model.ts";
import { getChatOverview } from "./models/get-chat-overview.ts";
import { getUsage } from "./models/get-usage.ts";
import { listModels } from "./models/list-models.ts";
import { saveModel } from "./models/save-model.ts";
import { testModel } from "./models/test-model.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(
    ChatService,
    bind(context, {
      checkOrigin,
      getHistory,
      readEvents,
      resetChat,
      sendMessage,
      startTurn,
      stopTurn,
      uploadFile,
    }),
  );
  router.service(ChatLogService, bind(context, { getToolCall, listChats }));
  router.service(
    AssistantService,
    bind(context, {
      deleteAssistant,
      getAssistant,
      getChatSettings,
      listAssistantVersions,
      listAssistants,
      saveAssistant,
      setDefaultAssistant,
      updateChatSettings,
    }),
  );
  router.service(
    ModelService,
    bind(context, { deleteModel, getChatOverview, getUsage, listModels, saveModel, testModel }),
  );
  router.service(AssistantRunService, bind(context, { checkAssistant, runForHook }));
}
