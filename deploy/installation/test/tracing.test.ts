import { get, type IncomingMessage } from "node:http";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callHook, createHook, type TestHook } from "./hooks/hooks.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "./otlp-receiver.ts";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const VERIFY = "toolgate.key_auth.v1.VerifyService/Verify";
const RUN = "toolgate.tool_runner.v1.RunService/Run";
const HTTP = "POST /api/v1/tools/*";
const EXPECTED = [
  HTTP,
  `${HTTP} > ${VERIFY}`,
  `${HTTP} > ${RUN}`,
  `${HTTP} > ${RUN} > run`,
  `${HTTP} > ${RUN} > run > run`,
  `${HTTP} > ${RUN} > run > run > outbox`,
  `${HTTP} > ${RUN} > run > run > outbox > fan-out`,
  `${HTTP} > ${RUN} > run > run > outbox > fan-out > attempt`,
];
const RECEIVE = "toolgate.inbound_hook.v1.ReceiveService/Receive";
const HOOK = "POST /api/v1/hooks/*";
/** Its answer is kept for a while, so not every call asks. */
const LOCKED = "toolgate.key_auth.v1.WorkspaceService/ListLockedWorkspaces";
const EXPECTED_OF_HOOK = [
  HOOK,
  `${HOOK} > ${RECEIVE}`,
  `${HOOK} > ${RECEIVE} > hook run`,
  `${HOOK} > ${RECEIVE} > hook run > ${RUN}`,
  `${HOOK} > ${RECEIVE} > hook run > ${RUN} > run`,
  `${HOOK} > ${RECEIVE} > hook run > ${RUN} > run > outbox`,
  `${HOOK} > ${RECEIVE} > hook run > ${RUN} > run > outbox > fan-out`,
  `${HOOK} > ${RECEIVE} > hook run > ${RUN} > run > outbox > fan-out > attempt`,
];
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";

let toolgate: RunningToolgate;
let collector: OtlpReceiver;
let secret: string;
let hook: TestHook;
beforeAll(async () => {
  collector = await startOtlpReceiver();
  toolgate = await runToolgate("split", {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_TRACES_SAMPLER: "parentbased_always_on",
      TRUSTED_PROXIES: "127.0.0.1",
    },
  });
  await toolgate.saveTool("inner", {
    handler: `export default async (args, ctx) => {
      await ctx.emitWebhook("order.added", {});
      return { success: true };
    };`,
  });
  await toolgate.saveTool("outer", {
    external_api: true,
    external_api_write: true,
    handler: 'export default async (args, ctx) => { await ctx.callTool("inner", {}); return { success: true }; };',
  });
  await toolgate.saveTool("hooked", {
    inbound_hook: true,
    handler: `export default async (args, ctx) => {
      await ctx.emitWebhook("order.added", {});
      return { success: true };
    };`,
  });
  hook = await createHook(toolgate, { target: { tool: "hooked" } });
  await toolgate.createEndpoint(["custom.*"]);
  ({ secret } = await toolgate.createKey({ name: "k", tools: ["outer"] }));
});
afterAll(async () => {
  await toolgate?.[Symbol.asyncDispose]();
  await collector?.[Symbol.asyncDispose]();
});

const call = (traceparent: string, tracestate = "") =>
  toolgate.call("outer", secret, {}, { headers: { traceparent, ...(tracestate && { tracestate }) } });
const spansOf = (traceId: string, complete: string) =>
  eventually(() => {
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    return spans.some(({ name }) => name === complete) && spans.some(({ name }) => name === HTTP) && spans;
  });

test("one trace leads from the HTTP call through verification, runs, outbox and fan-out to the attempt", async () => {
  expect((await call(`00-${TRACE_ID}-${PARENT_ID}-01`, "vendor=1,other=2")).status).toBe(200);
  const spans = await eventually(() => {
    const received = collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
    expect(new Set(received.map((span) => path(span, received)))).toEqual(new Set(EXPECTED));
    expect(received.length).toBe(EXPECTED.length);
    return received;
  });
  expect(spans.find(({ name }) => name === HTTP)?.parentId).toBe(PARENT_ID);
  expect(new Set(spans.map(({ traceState }) => traceState))).toEqual(new Set(["vendor=1,other=2"]));
});

test("one trace leads from the call of a hook through its run to the attempt of the event that the run caused", async () => {
  const traceId = TRACE_ID.replaceAll("0", "2");
  const headers = { traceparent: `00-${traceId}-${PARENT_ID}-01` };
  expect((await callHook(toolgate, hook, "{}", { headers })).status).toBe(202);
  await eventually(() => {
    const received = collector.spans.filter((span) => span.traceId === traceId && span.name !== LOCKED);
    expect(new Set(received.map((span) => path(span, received)))).toEqual(new Set(EXPECTED_OF_HOOK));
    expect(received.length).toBe(EXPECTED_OF_HOOK.length);
  });
});

test("a proxy's decision not to record applies to the whole trace, and a malformed traceparent starts a new one", async () => {
  const unrecorded = TRACE_ID.replaceAll("0", "1");
  expect((await call(`00-${unrecorded}-${PARENT_ID}-00`)).status).toBe(200);
  const before = collector.spans.length;
  expect((await call(`00-${"0".repeat(32)}-${PARENT_ID}-01`)).status).toBe(200);
  const fresh = await eventually(() => collector.spans.slice(before).find(({ name }) => name === HTTP) ?? false);
  expect([fresh.parentId, fresh.traceId]).toEqual(["", expect.not.stringMatching(/^0+$/)]);
  await spansOf(fresh.traceId, "attempt");
  expect(collector.spans.filter(({ traceId }) => traceId === unrecorded)).toEqual([]);
});

test("management calls are traced through the services", async () => {
  await toolgate.manage("tool_runner.v1.ExecutionService/ListExecutions", {});
  const rpc = "toolgate.tool_runner.v1.ExecutionService/ListExecutions";
  const span = await eventually(() => collector.spans.find(({ name }) => name === rpc) ?? false);
  const trace = await eventually(() => {
    const spans = collector.spans.filter(({ traceId }) => traceId === span.traceId);
    return spans.some(({ parentId }) => parentId === "") && spans;
  });
  expect(path(span, trace)).toBe(`POST /${rpc} > ${rpc}`);
});

test("a trusted proxy's request id is kept, a malformed one replaced", async () => {
  const ask = async (id: string) =>
    (await toolgate.request("/webhooks/event-types", { headers: { "x-request-id": id } })).headers.get("x-request-id");
  expect(await ask("proxy_1.2-3")).toBe("proxy_1.2-3");
  for (const id of ["", "two words", "x".repeat(129), 'a"b', "a,b"]) expect(await ask(id)).not.toBe(id);
});

test("a caller that is not a trusted proxy chooses neither its request id nor its trace nor whether that is recorded", async () => {
  const stranger = TRACE_ID.replaceAll("0", "3");
  const headers = { traceparent: `00-${stranger}-${PARENT_ID}-00`, "x-request-id": "mine" };
  const before = collector.spans.length;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const localAddress = "127.0.0.2";
    get(`${toolgate.baseUrl}/api/v1/openapi.json`, { headers, localAddress }, resolve).on("error", reject);
  });
  response.resume();
  expect(response.headers["x-request-id"]).not.toBe("mine");
  const isOfStranger = ({ name }: ReceivedSpan) => name === "GET /api/v1/openapi.json";
  const span = await eventually(() => collector.spans.slice(before).find(isOfStranger) ?? false);
  expect([span.parentId, span.traceId]).toEqual(["", expect.not.stringContaining(stranger)]);
});

/** The names of a span and its ancestors. */
function path(span: ReceivedSpan, spans: ReceivedSpan[]): string {
  const parent = spans.find(({ spanId }) => spanId === span.parentId);
  return parent ? `${path(parent, spans)} > ${span.name}` : span.name;
}
