import {
  type Attributes,
  createTraceState,
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

/** Lets hot paths avoid creating a closure for `inSpan`. */
export function isTracing(): boolean {
  return tracer !== undefined;
}

/** W3C Trace Context as it travels between processes: the values of the two headers, empty when there is no trace. */
export interface TraceContext {
  readonly traceparent: string;
  /** What other tracing systems want to know about the trace: passed on, never read. */
  readonly tracestate: string;
}

export const TRACEPARENT_HEADER = "traceparent";
export const TRACESTATE_HEADER = "tracestate";

/** Also matches versions after 00: their first four fields are known, and the rest is ignored. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_MEMBERS = 32;
const HEX = 16;
const NO_TRACE: TraceContext = { traceparent: "", tracestate: "" };

/**
 * The span that a W3C trace context names. Undefined when its traceparent is malformed or tracing is off. A tracestate
 * of more than 512 characters or 32 members is dropped, and so are malformed members.
 */
export function spanOf({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  if (tracer === undefined || traceparent === "") return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === "00" && rest !== undefined) return undefined;
  const span: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, HEX) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(isTracestate(tracestate) && { traceState: createTraceState(tracestate) }),
  };
  return trace.isSpanContextValid(span) ? span : undefined;
}

/** Longer ones are dropped by `createTraceState`; one with too many members would be returned in the wrong order. */
function isTracestate(text: string): boolean {
  return text !== "" && text.split(",", MAX_MEMBERS + 1).length <= MAX_MEMBERS;
}

/** The W3C trace context of a span. */
export function contextOf(span: SpanContext | undefined): TraceContext {
  if (span === undefined) return NO_TRACE;
  const { traceId, spanId, traceFlags, traceState } = span;
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags & TraceFlags.SAMPLED ? "01" : "00"}`,
    tracestate: traceState?.serialize() ?? "",
  };
}

/** The W3C trace context of the current span; empty when the current work is not traced. */
export function currentTrace(): TraceContext {
  return tracer === undefined ? NO_TRACE : contextOf(currentRequest()?.span);
}

interface SpanOptions {
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

/** Runs `work` in a span of the trace that a context from elsewhere names; without one it creates no span. */
export function inSpanOf<T>(
  context: TraceContext,
  name: string,
  work: () => Promise<T>,
  options?: SpanOptions,
): Promise<T> {
  const span = spanOf(context);
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
