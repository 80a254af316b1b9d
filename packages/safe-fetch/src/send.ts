import { Progress } from "./progress.ts";
import { type ReachContext, type RequestBasics, reach } from "./reach.ts";
import type { SafeFetchResult, Truncated } from "./result.ts";

/** One request to an address that a user chose. */
export type SendRequest = RequestBasics & {
  /** Wall-clock milliseconds for everything: DNS, connect, TLS, send, headers, body. */
  deadlineMs: number;
  /** Milliseconds that the body may take after the headers; then it is cut, as at the deadline. Default: no limit. */
  bodyDeadlineMs?: number;
};

/** One send from URL rules to result. Never rejects. */
export async function send(
  context: ReachContext,
  request: SendRequest,
  stop: AbortController,
): Promise<SafeFetchResult> {
  const { bodyDeadlineMs, maxResponseBytes } = request;
  const progress = new Progress(stop.signal);
  const reached = await reach(context, request, progress);
  if (reached.kind !== "response") return reached;
  const { status, headers, body, giveUp } = reached;
  const timer = bodyDeadlineMs === undefined ? undefined : setTimeout(() => stop.abort("deadline"), bodyDeadlineMs);
  const chunks: Buffer[] = [];
  let left = maxResponseBytes;
  let truncated: Truncated = false;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      if (left >= 0) continue;
      truncated = "size";
      break;
    }
  } catch {
    truncated = stop.signal.reason ?? "connection";
  }
  clearTimeout(timer);
  if (truncated !== false) giveUp();
  return { kind: "response", status, headers, body: Buffer.concat(chunks), truncated, timings: progress.done() };
}
