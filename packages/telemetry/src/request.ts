import { AsyncLocalStorage } from "node:async_hooks";
import type { SpanContext } from "@opentelemetry/api";

/** The HTTP request that the current work is for. */
export interface RequestScope {
  /** See `isRequestId`; empty when the caller gave none. */
  readonly requestId: string;
  /** The span that the current work is part of; undefined when it is not traced. */
  readonly span?: SpanContext | undefined;
}

const current = new AsyncLocalStorage<RequestScope>();

/** Runs `work`, and everything that it awaits, for a request. */
export function runForRequest<T>(scope: RequestScope, work: () => T): T {
  return current.run(scope, work);
}

/** Runs `work` outside of any request: for timers and processes that outlive the request in which they are started. */
export function outsideRequest<T>(work: () => T): T {
  return current.exit(work);
}

/** Undefined outside of a request. */
export function currentRequest(): RequestScope | undefined {
  return current.getStore();
}

/** The id of the request that the current work is for; empty outside of a request. */
export function currentRequestId(): string {
  return current.getStore()?.requestId ?? "";
}
