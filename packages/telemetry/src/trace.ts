import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { currentRequest, runForRequest } from "./request.ts";

/** Undefined while tracing is off: then everything here does nothing. */
let tracer: Tracer | undefined;

/** From now on this process traces with `next`; undefined turns tracing off. */
export function traceWith(next: Tracer | undefined): void {
  tracer = next;
}

/** For hot paths, which would otherwise create a closure for `inSpan`. */
export function isTracing(): boolean {
  return tracer !== undefined;
}

/** W3C Trace Context. */
export const TRACEPARENT_HEADER = "traceparent";

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const HEX = 16;

/** The span that a W3C traceparent names. Undefined when it is malformed or tracing is off. */
export function spanOf(traceparent: string): SpanContext | undefined {
  if (tracer === undefined || traceparent === "") return undefined;
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(traceparent) ?? [];
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, HEX) & TraceFlags.SAMPLED, isRemote: true };
  return trace.isSpanContextValid(span) ? span : undefined;
}

/** The W3C traceparent of a span; empty when there is none. */
export function traceparentOf(span: SpanContext | undefined): string {
  if (span === undefined) return "";
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags & TraceFlags.SAMPLED ? "01" : "00"}`;
}

/** The W3C traceparent of the current span; empty when the current work is not traced. */
export function currentTraceparent(): string {
  return tracer === undefined ? "" : traceparentOf(currentRequest()?.span);
}

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** Milliseconds since 1970; default: now. */
  startTime?: number;
}

/** Starts a span; without a parent the sampler decides whether it is recorded. Undefined while tracing is off. */
export function startSpan(name: string, parent: SpanContext | undefined, options: SpanOptions = {}): Span | undefined {
  return tracer?.startSpan(name, options, parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT);
}

/** Runs `work` in a span of the current trace. Without a recorded trace it creates no span. */
export async function inSpan<T>(name: string, work: () => Promise<T>, options?: SpanOptions): Promise<T> {
  const scope = currentRequest();
  const span = scope?.span && isRecorded(scope.span) ? startSpan(name, scope.span, options) : undefined;
  if (!scope || !span) return work();
  try {
    return await runForRequest({ requestId: scope.requestId, span: span.spanContext() }, work);
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Runs `work` in a span of the trace that a traceparent from elsewhere names; without one it creates no span. */
export function inSpanOf<T>(
  traceparent: string,
  name: string,
  work: () => Promise<T>,
  options?: SpanOptions,
): Promise<T> {
  const span = spanOf(traceparent);
  if (!span) return work();
  return runForRequest({ requestId: "", span }, () => inSpan(name, work, options));
}

/** Messages of errors may contain customers' data, so only the kind of the error is recorded. */
function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
}

function isRecorded(span: SpanContext): boolean {
  return (span.traceFlags & TraceFlags.SAMPLED) !== 0;
}

export { type Span, SpanKind, SpanStatusCode };
