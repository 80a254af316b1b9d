import type { CallOptions } from "@connectrpc/connect";
import type { FastifyReply, FastifyRequest } from "fastify";
import { chatNamed } from "../../domain/chat/parameters.ts";
import type { ApiResponse } from "../../domain/responses.ts";
import { sendResponse } from "../key-api.ts";
import { admit } from "./admission.ts";
import { chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { jsonParameters } from "./request-parameters.ts";
import { failureResponse, repeated } from "./upstream.ts";

const TIMEOUT_MS = 20_000;

type Change = (chat: { chatId: string }, options: CallOptions) => Promise<ApiResponse>;

/** A change of a chat that needs nothing but its id, and that may be made again. */
export async function changeChat(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
  change: Change,
): Promise<FastifyReply> {
  const left = new AbortController();
  reply.raw.once("close", () => left.abort());
  const { signal } = left;
  const login = chatLogin(request, { changesState: true });
  // Without a login, the body is not read.
  const reader = login && (await jsonParameters(context, request, reply, login.token));
  const checked = reader ? chatNamed(reader) : { values: { chatId: "" }, tenant: "" };
  const admitted = await admit(context, request, reply, { login: reader && login, checked });
  if (!admitted) return reply;
  const { values, headers } = admitted;
  try {
    const call = async () => change(values, { headers: await headers(), signal, timeoutMs: TIMEOUT_MS });
    return sendResponse(reply, await repeated(call, reply));
  } catch (error) {
    return sendResponse(reply, failureResponse(context, error, signal));
  }
}
