import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import {
  CHAT_FORBIDDEN,
  CHAT_INTERNAL,
  CHAT_OF_ANOTHER_USER,
  CHAT_UNAUTHENTICATED,
  chatError,
  invalidChatRequest,
} from "../../domain/chat/chat-responses.ts";
import type { ApiResponse } from "../../domain/responses.ts";
import { sendResponse } from "../key-api.ts";
import type { ChatContext } from "./context.ts";
import type { SseStream } from "./sse-stream.ts";

/** Without a limit of time: a whole answer takes as long as its model, and an upload as long as its client. */
export const NO_TIMEOUT = 0;

/** Failures of the connection or of the process at its other end, after which the same call may succeed. */
const PASSING: readonly Code[] = [Code.Unavailable, Code.Aborted, Code.Internal, Code.Unknown, Code.Canceled];
const WAITS_MS = [20, 100, 250, 500, 1_000, 2_000, 2_000, 2_000];

/** A call that may be made again, until the signal says that its client has disconnected. */
export async function repeated<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      const wait = WAITS_MS[failures];
      if (wait === undefined || !mayPass(ConnectError.from(error), failures)) throw error;
      await sleep(wait, undefined, { signal });
    }
  }
}

function mayPass(failure: ConnectError, failures: number): boolean {
  if (failure.findDetails(ErrorEventSchema).length > 0) return false;
  // A call that timed out has taken long already, so it is made only once more.
  return failure.code === Code.DeadlineExceeded ? failures === 0 : PASSING.includes(failure.code);
}

/** The response to a call that chat has refused, or that failed. Nothing is logged once the client has disconnected. */
export function failureResponse({ log }: ChatContext, error: unknown, signal: AbortSignal): ApiResponse {
  const failure = ConnectError.from(error);
  const [detail] = failure.findDetails(ErrorEventSchema);
  if (detail) return chatError(400, detail.code, detail.message);
  switch (failure.code) {
    case Code.PermissionDenied:
      return CHAT_OF_ANOTHER_USER;
    case Code.NotFound:
      return CHAT_FORBIDDEN;
    case Code.Unauthenticated:
      return CHAT_UNAUTHENTICATED;
    case Code.InvalidArgument:
      return invalidChatRequest(failure.rawMessage);
    default:
      if (!signal.aborted) log.error({ err: error }, "chat request failed unexpectedly");
      return CHAT_INTERNAL;
  }
}

/** Responds with an error, or ends a stream that has begun, so that its client connects again. */
export function endFailed(context: ChatContext, sse: SseStream, error: unknown): void {
  const response = failureResponse(context, error, sse.signal);
  if (sse.reply) sendResponse(sse.reply, response);
  else sse.cut("cut");
}
