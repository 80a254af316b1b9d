import { Readable } from "node:stream";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { GetHistoryResponse, HistoryMessage } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import type { FastifyReply, FastifyRequest } from "fastify";
import { chatResult } from "../../domain/chat/chat-responses.ts";
import { historyPage } from "../../domain/chat/parameters.ts";
import { sendResponse } from "../key-api.ts";
import { admit } from "./admission.ts";
import { chatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { queryParameters } from "./request-parameters.ts";
import { failureResponse } from "./upstream.ts";

const TIMEOUT_MS = 15_000;

/** [CHAT-25] [CHAT-26] GET /chat/history: all messages, or with `before` or `limit` a page of them. */
export async function showHistory(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const login = chatLogin(request, { changesState: false });
  const reader = queryParameters(request);
  const { chatId, assistant, before, limit } = historyPage(reader);
  const admitted = await admit(context, request, reply, { login, reader });
  if (!admitted) return reply;
  const { call, signal } = admitted;
  const read: ReadPage = (part) =>
    call((options) => context.chat.getHistory({ chatId, assistant, ...part }, options), { timeoutMs: TIMEOUT_MS });
  try {
    if (before !== undefined || limit !== undefined) {
      const page = await read({ before: BigInt(before ?? 0), limit: limit ?? 0 });
      const next = page.nextBefore === 0n ? null : Number(page.nextBefore);
      const messages = page.messages.map(entryOf);
      return sendResponse(reply, chatResult({ messages, next_before: next, ...greetingOf(page) }));
    }
    const first = await read({ after: 0n });
    reply.header("content-type", "application/json; charset=utf-8");
    return reply.send(Readable.from(wholeHistory(read, first)));
  } catch (error) {
    return sendResponse(reply, failureResponse(context, error, signal));
  }
}

type ReadPage = (part: { after: bigint } | { before: bigint; limit: number }) => Promise<GetHistoryResponse>;

/** Page by page, so that no long history has to fit in memory. */
async function* wholeHistory(read: ReadPage, first: GetHistoryResponse): AsyncGenerator<string> {
  let page = first;
  let separator = '{"messages":[';
  for (;;) {
    for (const message of page.messages) {
      yield separator + JSON.stringify(entryOf(message));
      separator = ",";
    }
    if (page.nextAfter === 0n) break;
    page = await read({ after: page.nextAfter });
  }
  const greeting = Object.entries(greetingOf(first)).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  yield `${separator === "," ? "" : separator}]${greeting.join("")}}`;
}

/** What the assistant of a chat without messages says first. */
function greetingOf({ greeting, suggestions }: GetHistoryResponse) {
  return greeting === "" && suggestions.length === 0 ? {} : { greeting, suggestions };
}

/** [CHAT-27] [CHAT-28] [CHAT-29] */
function entryOf({ role, content, created, files }: HistoryMessage): Record<string, unknown> {
  return {
    role,
    content,
    created: created && timestampDate(created).toISOString(),
    ...(files.length > 0 && { files }),
  };
}
