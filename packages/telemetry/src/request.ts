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

/** Undefined outside of a request. */
export function currentRequest(): RequestScope | undefined {
  return current.getStore();
}

/** The id of the request that the current work is for; empty outside of a request. */
export function currentRequestId(): string {
  return current.getStore()?.requestId ?? "";
}

/**
 * Binds the function to the current request. For callbacks that are called from elsewhere, such as the messages of a
 * child process.
 */
export function keepRequest<Args extends unknown[], Result>(
  work: (...args: Args) => Result,
): (...args: Args) => Result {
  const scope = current.getStore();
  return scope ? (...args) => current.run(scope, () => work(...args)) : work;
}
