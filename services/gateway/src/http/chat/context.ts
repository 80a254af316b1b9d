import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type {
  ChatService,
  ResumeRequestSchema,
  ResumeResponse,
  StreamAnswerRequestSchema,
  StreamAnswerResponse,
} from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { AuthorizeResponse, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Logger } from "@toolgate/service-host/logger";
import type { PeerStream } from "@toolgate/service-host/peers";
import type { Slots } from "@toolgate/slots/slots";
import type { OpenAnswers } from "../../domain/chat/open-answers.ts";
import type { AllowedOrigins } from "./allowed-origins.ts";
import type { OpenStreams } from "./open-streams.ts";

type StreamAnswerInit = MessageInitShape<typeof StreamAnswerRequestSchema>;
type ResumeInit = MessageInitShape<typeof ResumeRequestSchema>;

/** What the routes of chats need. */
export interface ChatContext {
  chat: Client<typeof ChatService>;
  streamAnswer: PeerStream<StreamAnswerInit, StreamAnswerResponse>;
  resume: PeerStream<ResumeInit, ResumeResponse>;
  sessions: Client<typeof SessionService>;
  /** Who a token belongs to, and what they may do in a workspace. */
  authorize: (question: { token: string; workspace: string }) => Promise<AuthorizeResponse>;
  origins: AllowedOrigins;
  streams: OpenStreams;
  answers: OpenAnswers;
  /** For forms with files, by user. */
  uploads: Slots;
  log: Logger;
}
