import { create } from "@bufbuild/protobuf";
import { AuthorizeRequestSchema, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { CHAT_INTERNAL, invalidChatRequest } from "../../domain/chat/chat-responses.ts";
import { type AnswerLimits, OpenAnswers } from "../../domain/chat/open-answers.ts";
import { sendResponse } from "../key-api.ts";
import { CHAT_PATHS, type ChatPath } from "../paths.ts";
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

interface ChatOptions extends Pick<ChatContext, "chat" | "sessions" | "origins" | "uploads" | "bus" | "log"> {
  peers: Peers;
  answerLimits: AnswerLimits;
}

/** Chats of users with assistants: JSON, forms and server-sent events, translated into the RPCs of chat. */
export function chatRoutes({ peers, answerLimits, ...shared }: ChatOptions) {
  const { log } = shared;
  const authorize = peers.call(SessionService.method.authorize);
  const streams = new OpenStreams();
  const context: ChatContext = {
    ...shared,
    authorize: (question) => authorize(create(AuthorizeRequestSchema, question)),
    streams,
    answers: new OpenAnswers(answerLimits),
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
