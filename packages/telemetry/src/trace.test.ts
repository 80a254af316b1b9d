import { ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AlwaysOnSampler, InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterEach, expect, test } from "vitest";
import { atMostEvery } from "./metrics.ts";
import { runForRequest } from "./request.ts";
import { contextOf, currentTrace, inSpan, inSpanOf, spanOf, startSpan, traceWith } from "./trace.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const IDS = TRACEPARENT.slice(3, 52);
const CONTEXT = { traceparent: TRACEPARENT, tracestate: "" };

afterEach(() => traceWith(undefined));

function traced() {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  traceWith(provider.getTracer("test"));
  return exporter;
}

test("while tracing is off nothing is traced, and work runs as usual", async () => {
  expect(spanOf(CONTEXT)).toBeUndefined();
  expect(startSpan("a", undefined)).toBeUndefined();
  expect(await inSpanOf(CONTEXT, "a", async () => currentTrace())).toEqual({ traceparent: "", tracestate: "" });
});

test("a span continues the trace of its traceparent, and is the parent of later spans", async () => {
  const exporter = traced();
  const inner = await inSpanOf(CONTEXT, "outer", async () => currentTrace());
  const [span] = exporter.getFinishedSpans();
  expect(span?.spanContext().traceId).toBe(TRACEPARENT.slice(3, 35));
  expect(inner).toEqual(contextOf(span?.spanContext()));
  expect(span?.parentSpanContext?.spanId).toBe(TRACEPARENT.slice(36, 52));
});

test("what fails is marked with the kind of its error, never with its message", async () => {
  const exporter = traced();
  const work = () => Promise.reject(new TypeError("a customer's data"));
  await expect(inSpanOf(CONTEXT, "a", work)).rejects.toThrow("a customer's data");
  const [span] = exporter.getFinishedSpans();
  expect(span?.attributes).toEqual({ "error.type": "TypeError" });
  expect(JSON.stringify([span?.status, span?.events])).not.toContain("customer");
});

test("an unrecorded trace and work outside of a trace get no spans", async () => {
  const exporter = traced();
  await inSpanOf({ ...CONTEXT, traceparent: TRACEPARENT.replace(/01$/, "00") }, "a", async () => {});
  await runForRequest({ requestId: "r" }, () => inSpan("a", async () => {}));
  await inSpan("a", async () => {});
  expect(exporter.getFinishedSpans()).toEqual([]);
  expect(trace.getSpan(ROOT_CONTEXT)).toBeUndefined();
});

test.each([
  "",
  "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.x",
  "00-00000000000000000000000000000000-b7ad6b7169203331-01",
  "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
  "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
  `${TRACEPARENT}-x`,
])("%j is not a traceparent", (traceparent) => {
  traced();
  expect(spanOf({ traceparent, tracestate: "vendor=1" })).toBeUndefined();
});

test.each([`01-${IDS}-01`, `cc-${IDS}-03`, `fe-${IDS}-01-what-comes-later`])(
  "of a later version such as %j, the first four fields are used and version 00 is sent on",
  (traceparent) => {
    traced();
    expect(contextOf(spanOf({ traceparent, tracestate: "" })).traceparent).toBe(TRACEPARENT);
  },
);

test("a tracestate is passed on to the spans of its trace, in bounds", async () => {
  const exporter = traced();
  const passedOn = async (tracestate: string) =>
    (await inSpanOf({ ...CONTEXT, tracestate }, "a", async () => currentTrace())).tracestate;
  expect(await passedOn("vendor=1,other@system=a b")).toBe("vendor=1,other@system=a b");
  expect(exporter.getFinishedSpans()[0]?.spanContext().traceState?.get("vendor")).toBe("1");
  expect(await passedOn("vendor=1, ,=2,UPPER=3,last=4")).toBe("vendor=1,last=4");
  const members = Array.from({ length: 33 }, (_, index) => `v${index}=1`);
  expect(await passedOn(members.slice(0, 32).join(","))).toBe(members.slice(0, 32).join(","));
  expect(await passedOn(members.join(","))).toBe("");
  expect(await passedOn(`vendor=${"x".repeat(512)}`)).toBe("");
});

test("reads within the pause share a result, and a failure is not cached", async () => {
  let reads = 0;
  const read = atMostEvery(60_000, async () => {
    reads += 1;
    if (reads === 1) throw new Error("not yet");
    return reads;
  });
  await expect(read()).rejects.toThrow("not yet");
  expect(await Promise.all([read(), read(), read()])).toEqual([2, 2, 2]);
});
