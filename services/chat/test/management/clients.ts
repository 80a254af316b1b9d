import { type Client, createClient } from "@connectrpc/connect";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { AssistantRunService } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { ChatLogService } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import type { MemberRole } from "@toolgate/service-host/principal";
import { createLogger } from "@toolgate/service-host/process/logger";
import type { Service } from "@toolgate/service-host/service";
import { principalHeaders } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { withHeaders } from "../../../tool-runner/test/tool-runner-rig.ts";
import type { ChatRig } from "../chat-rig.ts";

export interface Clients {
  chats: Client<typeof ChatService>;
  chatLog: Client<typeof ChatLogService>;
  assistants: Client<typeof AssistantService>;
  models: Client<typeof ModelService>;
}

interface User {
  role?: MemberRole;
  /** Default: the rig's. */
  workspaceId?: string;
}

/** What one user may call. */
export function clientsOf(rig: ChatRig, { role = "manager", workspaceId = rig.tools.workspaceId }: User = {}): Clients {
  const principal = { userId: role, email: `${role}@example.test`, workspaceId, workspace: "acme", role };
  const headers = principalHeaders(principal);
  const transport = transportOf(rig.services[0]);
  return {
    chats: withHeaders(createClient(ChatService, transport), headers),
    chatLog: withHeaders(createClient(ChatLogService, transport), headers),
    assistants: withHeaders(createClient(AssistantService, transport), headers),
    models: withHeaders(createClient(ModelService, transport), headers),
  };
}

/** What inbound-hook calls. */
export function assistantRuns(rig: ChatRig, service = rig.services[0]): Client<typeof AssistantRunService> {
  return createClient(AssistantRunService, transportOf(service));
}

function transportOf(service: Service | undefined) {
  const log = createLogger({ service: "test", level: process.env.TEST_LOG_LEVEL ?? "silent" });
  return testTransport((router) => service?.routes(router), log);
}
