import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { UploadFileRequestSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import { CHAT_UNAUTHENTICATED, chatResult, failedAnswer, TOO_MANY_UPLOADS } from "../../domain/chat/chat-responses.ts";
import { sentMessage } from "../../domain/chat/parameters.ts";
import { receiptJson } from "../../domain/chat/server-sent-events.ts";
import type { ApiResponse } from "../../domain/responses.ts";
import { sendResponse } from "../key-api.ts";
import { whenClosed } from "../slots.ts";
import { admit } from "./admission.ts";
import { type ChatLogin, chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { allowOrigin } from "./cors.ts";
import { type Form, readForm, type StoreFile } from "./form.ts";
import { idempotencyKeyOf, jsonParameters, userOf } from "./request-parameters.ts";
import { failureResponse, NO_TIMEOUT } from "./upstream.ts";

const FORM_TYPE = /^multipart\/form-data *(;|$)/i;

/** [CHAT-3] [CHAT-12] [CHAT-13] POST /chat/index: one message, and the whole answer as the response. */
export async function sendMessage(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const signal = whenClosed(reply.raw);
  const login = chatLogin(request, { changesState: true });
  // Without a login, the body is not read.
  const sent = login ? await readSent(context, request, login, signal) : CHAT_UNAUTHENTICATED;
  if ("status" in sent) {
    await allowOrigin(context, request, reply, "");
    return sendResponse(reply, sent);
  }
  const { reader, fileId = "", refusal } = sent;
  const message = { ...sentMessage(reader, idempotencyKeyOf(request, reader)), fileId };
  // The call may have to be repeated, and must not become two turns.
  message.clientMessageId ||= randomUUID();
  const admitted = await admit(context, request, reply, { login, reader, occupies: true });
  if (!admitted) return reply;
  if (refusal) return sendResponse(reply, refusal);
  try {
    const call = admitted.call((options) => context.chat.sendMessage(message, options), { timeoutMs: NO_TIMEOUT });
    const { reply: html, error, receipt } = await call;
    if (error) return sendResponse(reply, failedAnswer(error.code, error.message));
    return sendResponse(reply, chatResult({ reply: html, ...(receipt && { receipt: receiptJson(receipt) }) }));
  } catch (error) {
    return sendResponse(reply, failureResponse(context, error, signal));
  }
}

/** Reads the body, or says why it is not read. */
async function readSent(
  context: ChatContext,
  request: FastifyRequest,
  { token, isProven }: ChatLogin,
  signal: AbortSignal,
): Promise<Form | ApiResponse> {
  const { bodyType } = request;
  if (!FORM_TYPE.test(bodyType)) {
    const reader = await jsonParameters(context, request, token, signal);
    return reader ? { reader } : CHAT_UNAUTHENTICATED;
  }
  const userId = await userOf(context, token, signal);
  if (userId === undefined) return CHAT_UNAUTHENTICATED;
  const store: StoreFile = (name, chunks) => storeFile(context, userId, name, chunks, signal);
  using slot = await context.uploads.take(userId, signal);
  return slot ? await readForm(request, bodyType, isProven ? store : undefined) : TOO_MANY_UPLOADS;
}

async function storeFile(
  context: ChatContext,
  userId: string,
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<string | ApiResponse> {
  async function* parts() {
    yield create(UploadFileRequestSchema, { part: { case: "header", value: { userId, name: name.toWellFormed() } } });
    for await (const chunk of chunks) yield create(UploadFileRequestSchema, { part: { case: "chunk", value: chunk } });
    yield create(UploadFileRequestSchema, { part: { case: "end", value: {} } });
  }
  try {
    return (await context.chat.uploadFile(parts(), { signal, timeoutMs: NO_TIMEOUT })).fileId;
  } catch (error) {
    return failureResponse(context, error, signal);
  }
}
