import type { Client } from "@connectrpc/connect";
import type { Bus } from "@toolgate/event-bus/connect";
import type { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { AuthorizeResponse, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Slots } from "@toolgate/slots/slots";
import type { OpenAnswers } from "../../domain/chat/open-answers.ts";
import type { AllowedOrigins } from "./allowed-origins.ts";
import type { OpenStreams } from "./open-streams.ts";

/** What the routes of chats need. */
export interface ChatContext {
  chat: Client<typeof ChatService>;
  sessions: Client<typeof SessionService>;
  /** Who a token belongs to, and what they may do in a workspace. */
  authorize: (question: { token: string; workspace: string }) => Promise<AuthorizeResponse>;
  origins: AllowedOrigins;
  streams: OpenStreams;
  answers: OpenAnswers;
  /** For forms with files, by user. */
  uploads: Slots;
  bus: Bus;
  log: Logger;
}
