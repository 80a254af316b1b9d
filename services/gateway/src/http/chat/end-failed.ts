import { sendResponse } from "../key-api.ts";
import type { ChatContext } from "./context.ts";
import type { SseStream } from "./sse-stream.ts";
import { failureResponse } from "./upstream.ts";

/** Responds with an error, or ends a stream that has begun, so that its client connects again. */
export function endFailed(context: ChatContext, sse: SseStream, error: unknown): void {
  const response = failureResponse(context, error, sse.signal);
  if (sse.reply) sendResponse(sse.reply, response);
  else if (!sse.hasEnded) sse.cut("cut");
}
