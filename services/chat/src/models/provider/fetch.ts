import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenResult } from "@toolgate/safe-fetch/open";
import type { ConnectionFailure } from "@toolgate/safe-fetch/result";
import { ModelError, type ModelErrorKind } from "../model.ts";
import { MAX_ANSWER_BYTES } from "./bounds.ts";
import { readErrorCode } from "./error-code.ts";
import { type EventFilter, filterEvents } from "./filter-events.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { ModelLimits, ProviderSettings } from "./settings.ts";

/** Pause before the retry when the server asks for none. */
const RETRY_WAIT_MS = 500;

/** Other failures mean that there was no connection. */
const KINDS_OF_FAILURES: Readonly<Partial<Record<ConnectionFailure, ModelErrorKind>>> = {
  protocol: "invalid",
  "headers-too-large": "invalid",
  closed: "cut",
};

type Opened = Extract<OpenResult, { kind: "response" }>;

interface ModelCall {
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array;
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request to a model's server: to checked addresses only, within the limits, without redirects. It is repeated
 * once after 429, 503 or 529. Any response but a 2xx, or none at all, is a ModelError.
 */
async function callModel(
  { safeFetch, workspaceId, limits }: Pick<ProviderSettings, "safeFetch" | "workspaceId"> & { limits: ModelLimits },
  call: ModelCall,
): Promise<Opened> {
  const began = performance.now();
  const { signal } = call;
  const request = {
    ...call,
    workspaceId,
    method: "POST" as const,
    // It may be repeated: it has had no effect if the server closed a kept connection without sending a byte.
    reuseKey: "model",
    maxResponseBytes: MAX_ANSWER_BYTES,
    ...limits,
  };
  for (let mayRetry = true; ; mayRetry = false) {
    const deadlineMs = limits.totalMs - (performance.now() - began);
    const response = await safeFetch.open({ ...request, deadlineMs });
    if (response.kind !== "response") throw toModelError(response, signal);
    if (response.status >= 200 && response.status < 300) return response;
    const waitMs = retryAfterMs(response.headers, Date.now());
    const error = await refusedError(response, waitMs);
    const canRetry = mayRetry && [429, 503, 529].includes(response.status);
    if (!canRetry || (waitMs ?? RETRY_WAIT_MS) > limits.retryWaitMs) throw error;
    await sleep(waitMs ?? RETRY_WAIT_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** A fetch for the AI SDK, which does what `callModel` does. The SDK gets what `filter` leaves of the answer. */
export function modelFetch(options: Parameters<typeof callModel>[0], filter: EventFilter) {
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const headers = Object.fromEntries(new Headers(init.headers));
    const signal = init.signal ?? undefined;
    const opened = await callModel(options, { url: String(input), headers, body: String(init.body), signal });
    return toResponse({ ...opened, body: filterEvents(opened.body, filter) });
  };
}

function toResponse({ status, headers, body }: Opened): Response {
  const contentType = [headers["content-type"]].flat()[0];
  return new Response(body, {
    status: status === 204 || status === 205 ? 200 : status,
    headers: contentType === undefined ? {} : { "content-type": contentType },
  });
}

async function refusedError({ status, body }: Opened, waitMs: number | undefined): Promise<ModelError> {
  const code = await readErrorCode(body);
  const message = `the model's server responded with ${status}${code === undefined ? "" : ` (${code})`}`;
  const response = { status, code };
  return new ModelError(kindOfStatus(status), message, { beforeOutput: true, retryAfterMs: waitMs, response });
}

/** What a status means for the caller. */
export function kindOfStatus(status: number): ModelErrorKind {
  if (status === 429) return "rate_limited";
  if (status === 408 || status === 504) return "timeout";
  return status >= 500 ? "overloaded" : "refused";
}

function toModelError(result: Exclude<OpenResult, Opened>, signal: AbortSignal | undefined): Error {
  signal?.throwIfAborted();
  const fail = (kind: ModelErrorKind, message: string) => new ModelError(kind, message, { beforeOutput: true });
  switch (result.kind) {
    case "timeout":
      return fail("timeout", `the model's server took too long (${result.phase})`);
    case "connection-error":
      return fail(KINDS_OF_FAILURES[result.code] ?? "unreachable", result.message);
    case "refused":
      return fail("unreachable", result.reason);
    case "aborted":
      return fail("cut", "the process is stopping");
  }
}
