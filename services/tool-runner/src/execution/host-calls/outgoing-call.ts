import type { FetchMethod } from "@toolgate/safe-fetch/request-rules";
import type { SafeFetchResult } from "@toolgate/safe-fetch/result";
import { ToolError } from "../errors.ts";
import { endOf } from "../run.ts";
import type { HostDependencies } from "./host-call.ts";
import { bodyOf, unpacked } from "./response-body.ts";

export interface OutgoingCall {
  url: string;
  method: FetchMethod;
  headers: Record<string, string>;
  body: string | undefined;
}

const MAX_RESPONSE_BYTES = 1024 * 1024;
export const READING_METHODS: ReadonlySet<FetchMethod> = new Set<FetchMethod>(["GET", "HEAD"]);

/**
 * Sends one call to an external address; the body is parsed if it is JSON. Rejects with a ToolError.
 */
export async function sendCall(
  { safeFetch, slots }: HostDependencies,
  call: OutgoingCall,
  { workspaceId, timeoutMs, signal }: { workspaceId: string; timeoutMs: number; signal: AbortSignal | undefined },
) {
  const { body, ...request } = call;
  const endsAtMs = performance.now() + timeoutMs;
  using _slot = await slots.take("outgoing", workspaceId, endOf(timeoutMs, signal));
  const result = await safeFetch.send({
    ...request,
    workspaceId,
    ...(body !== undefined && { body }),
    // Only what may be repeated when the other side has just closed the connection.
    ...(READING_METHODS.has(call.method) && { reuseKey: workspaceId }),
    deadlineMs: Math.max(1, endsAtMs - performance.now()),
    maxResponseBytes: MAX_RESPONSE_BYTES,
    signal,
  });
  if (result.kind !== "response") throw new ToolError("CALL_FAILED", failureText(result));
  return readResponse(result);
}

async function readResponse({ status, headers, body, truncated }: Extract<SafeFetchResult, { kind: "response" }>) {
  if (truncated) {
    throw new ToolError("CALL_FAILED", `the response could not be read completely (${truncated})`);
  }
  return { status, ...bodyOf(headers, await unpacked(headers, body, MAX_RESPONSE_BYTES)) };
}

function failureText(result: Exclude<SafeFetchResult, { kind: "response" }>): string {
  if (result.kind === "refused") return result.reason;
  if (result.kind === "connection-error") return result.message;
  return result.kind === "timeout" ? "the call took too long" : "the call was aborted";
}
