import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenResult } from "@toolgate/safe-fetch/open";
import type { ConnectionFailure } from "@toolgate/safe-fetch/result";
import { ModelError, type ModelErrorKind } from "../model.ts";
import { kindOfStatus, readErrorCode } from "./errors.ts";
import { type EventFilter, filterEvents } from "./filter-events.ts";
import { MODEL_LIMITS, type ProviderSettings } from "./settings.ts";

/** Most bytes of one answer. */
const MAX_ANSWER_BYTES = 4_194_304;
/** Pause before the retry when the server asks for none. */
const RETRY_WAIT_MS = 500;

/** Other failures mean that there was no connection. */
const KINDS_OF_FAILURES: Readonly<Partial<Record<ConnectionFailure, ModelErrorKind>>> = {
  protocol: "invalid",
  "headers-too-large": "invalid",
  closed: "cut",
};

type Opened = Extract<OpenResult, { kind: "response" }>;

/**
 * A fetch for the AI SDK that sends a request to a model's server: to checked addresses only, within the limits, without
 * redirects. It is repeated once after 429, 503 or 529. Any response but a 2xx, or none at all, is a ModelError. The SDK gets
 * what `filter` leaves of the answer.
 */
export function modelFetch({ safeFetch, workspaceId, limits = MODEL_LIMITS }: ProviderSettings, filter: EventFilter) {
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const began = performance.now();
    const signal = init.signal ?? undefined;
    const request = {
      ...limits,
      workspaceId,
      url: String(input),
      method: "POST" as const,
      headers: Object.fromEntries(new Headers(init.headers)),
      body: String(init.body),
      signal,
      // It may be repeated: it has had no effect if the server closed a kept connection without sending a byte.
      reuseKey: "model",
      maxResponseBytes: MAX_ANSWER_BYTES,
    };
    for (let mayRetry = true; ; mayRetry = false) {
      const deadlineMs = limits.totalMs - (performance.now() - began);
      const response = await safeFetch.open({ ...request, deadlineMs });
      if (response.kind !== "response") throw failedError(response, signal);
      if (response.status >= 200 && response.status < 300) return answerOf(response, filter);
      const waitMs = retryAfterMs(response.headers, Date.now()) ?? RETRY_WAIT_MS;
      const error = await refusedError(response);
      const canRetry = mayRetry && [429, 503, 529].includes(response.status);
      if (!canRetry || waitMs > limits.retryWaitMs) throw error;
      await sleep(waitMs, undefined, signal === undefined ? {} : { signal });
    }
  };
}

function answerOf({ status, headers, body }: Opened, filter: EventFilter): Response {
  const contentType = [headers["content-type"]].flat()[0];
  return new Response(filterEvents(body, filter), {
    status: status === 204 || status === 205 ? 200 : status,
    headers: contentType === undefined ? {} : { "content-type": contentType },
  });
}

async function refusedError({ status, body }: Opened): Promise<ModelError> {
  const code = await readErrorCode(body);
  const message = `the model's server responded with ${status}${code === undefined ? "" : ` (${code})`}`;
  return new ModelError(kindOfStatus(status), message, { beforeOutput: true, response: { status, code } });
}

function failedError(result: Exclude<OpenResult, Opened>, signal: AbortSignal | undefined): Error {
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

/**
 * The pause that a response asks for, in milliseconds: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC
 * 9110, 10.2.3). Undefined when it asks for none, or the header cannot be parsed.
 */
function retryAfterMs(headers: Record<string, string | string[]>, nowMs: number): number | undefined {
  const exact = decimal([headers["retry-after-ms"]].flat()[0]);
  if (exact !== undefined) return exact;
  const text = [headers["retry-after"]].flat()[0];
  const seconds = decimal(text);
  if (seconds !== undefined) return seconds * 1_000;
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}(?:\.\d{1,9})?$/.test(text.trim()) ? Number(text) : undefined;
}
