import { create } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import type { Bus } from "@toolgate/event-bus/connect";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { AuthorizeRequestSchema, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import type { Slots } from "@toolgate/slots/slots";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { CHAT_INTERNAL, invalidChatRequest } from "../../domain/chat/chat-responses.ts";
import { type AnswerLimits, OpenAnswers } from "../../domain/chat/open-answers.ts";
import { sendResponse } from "../key-api.ts";
import { CHAT_PATHS, type ChatPath } from "../paths.ts";
import type { AllowedOrigins } from "./allowed-origins.ts";
import { resetChat, stopTurn } from "./change-chat.ts";
import type { ChatContext } from "./context.ts";
import { preflight } from "./cors.ts";
import { showHistory } from "./history.ts";
import { OpenStreams } from "./open-streams.ts";
import { resumeStream } from "./resume.ts";
import { sendMessage } from "./send.ts";
import { streamAnswer } from "./stream.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The Content-Type header as sent. */
    bodyType: string;
  }
}

type ChatHandler = (context: ChatContext, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

const HANDLERS: Readonly<Record<ChatPath, ChatHandler>> = {
  "/chat/index": sendMessage,
  "/chat/stream": streamAnswer,
  "/chat/resume": resumeStream,
  "/chat/history": showHistory,
  "/chat/reset": resetChat,
  "/chat/stop": stopTurn,
};

interface ChatOptions {
  chat: Transport;
  keyAuth: Transport;
  /** Absent: hot calls are calls over `keyAuth`. */
  call: Peers["call"] | undefined;
  origins: AllowedOrigins;
  answerLimits: AnswerLimits | undefined;
  uploads: Slots;
  bus: Bus;
  log: Logger;
}

/** Chats of users with assistants: JSON, forms and server-sent events, translated into the RPCs of chat. */
export function chatRoutes({ chat, keyAuth, origins, call, answerLimits, uploads, bus, log }: ChatOptions) {
  const client = createClient(ChatService, chat);
  const sessions = createClient(SessionService, keyAuth);
  const authorize = call?.(SessionService.method.authorize) ?? sessions.authorize;
  const streams = new OpenStreams();
  const context: ChatContext = {
    chat: client,
    sessions,
    authorize: (question) => authorize(create(AuthorizeRequestSchema, question)),
    origins,
    streams,
    answers: new OpenAnswers(answerLimits),
    uploads,
    bus,
    log,
  };
  return async (app: FastifyInstance): Promise<void> => {
    app.decorateRequest("bodyType", "");
    app.addHook("preClose", async () => streams.close());
    app.addHook("onClose", async () => streams[Symbol.dispose]());
    app.addHook("onRequest", (request, reply, done) => {
      // The router would refuse types that it cannot read, and in another form.
      request.bodyType = request.headers["content-type"] ?? "";
      request.headers["content-type"] = undefined;
      reply.headers({ "cache-control": "no-store", vary: "origin" });
      done();
    });
    app.setErrorHandler((error: FastifyError, request, reply) => {
      const { statusCode = 500 } = error;
      if (statusCode < 500) return sendResponse(reply, invalidChatRequest("the request cannot be read"));
      if (!reply.raw.destroyed) log.error({ err: error, method: request.method }, "chat request failed unexpectedly");
      return sendResponse(reply, CHAT_INTERNAL);
    });
    for (const [path, method] of Object.entries(CHAT_PATHS)) {
      const handler = HANDLERS[path as ChatPath];
      app.route({ method, url: path, handler: (request, reply) => handler(context, request, reply) });
      app.route({ method: "OPTIONS", url: path, handler: (request, reply) => preflight(context, request, reply) });
    }
  };
}
