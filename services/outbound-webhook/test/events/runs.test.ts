import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { type RunRequestSchema, RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { createLogger } from "@toolgate/service-host/process/logger";
import { unaryRoutes } from "@toolgate/service-host/rpc/hot-calls";
import type { ServiceName } from "@toolgate/service-registry/services";
import { eventually } from "@toolgate/testbed/eventually";
import { signedCaller } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../../../tool-runner/test/tool-runner-rig.ts";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";
import { ALL_TYPES, type Body, schemaErrors } from "./event-rig.ts";

type Caller = NonNullable<MessageInitShape<typeof RunRequestSchema>["caller"]>;

const KEY: Caller = { case: "key", value: { keyId: "7", keyName: "Partner", ip: "203.0.113.0", toolListed: true } };
const CHAT: Caller = { case: "chat", value: { chatId: "chat-1", callerId: "user-1", hop: 1 } };
const TASK: Caller = { case: "scheduledTask", value: { chatId: "task-chat", taskId: "task-1", hop: 1 } };
const PUBLIC: Caller = { case: "publicApi", value: { chatId: "public-1", callerId: "" } };
const HOOK: Caller = {
  case: "hook",
  value: {
    chatId: "hook_1_x",
    hookId: "1",
    hookName: "Shop",
    deliveryId: "d-1",
    externalId: "",
    receivedAt: "2026-11-21T08:00:00Z",
  },
};
const CALLERS = { KEY, CHAT, TASK, PUBLIC, HOOK };

const inTestMode = (caller: Caller) => ({ ...caller, value: { ...caller.value, testMode: true } }) as Caller;

/** The service that starts runs of a kind. */
const SERVICE_OF: Record<NonNullable<Caller["case"]>, ServiceName> = {
  key: "gateway",
  chat: "chat",
  scheduledTask: "chat",
  publicApi: "gateway",
  hook: "inbound-hook",
};

/** An event whose first publishing failed is published again after 30 s. */
const SETTLE_DEADLINE_MS = 150_000;

describe("events of tool runs", () => {
  let outbound: OutboundRig;
  let runner: ToolRunnerRig;
  let runsOf: (service: ServiceName) => Client<typeof RunService>;

  beforeAll(async () => {
    outbound = await startOutboundRig();
    runner = await startToolRunnerRig({ config: { natsUrl: outbound.nats.url } });
    const log = createLogger({ service: "test", level: "silent" });
    const routes = unaryRoutes("tool-runner", runner.replicas[0] as ToolRunnerRig["replicas"][number]);
    runsOf = (service) => createClient(RunService, testTransport(routes, log, service));
    await outbound.register(runner.workspaceId, "/runs", ALL_TYPES);
    const released = { external_api: true, public_api: true, inbound_hook: true, webhook_event: true };
    const properties = { n: { type: "integer" }, fail: { type: "boolean" }, password: {} };
    const parameters = { type: "object", properties };
    const handler = `export default (args) => {
      if (args.fail) throw new Error("no stock");
      return { success: true, n: args.n, token: "t", _internal: 1 };
    };`;
    await runner.saveTool("reported", { ...released, parameters, handler });
    await runner.saveTool("outer", {
      ...released,
      webhook_event: false,
      parameters,
      handler: 'export default (args, ctx) => ctx.callTool("reported", args);',
    });
    await runner.saveTool("emits", {
      ...released,
      webhook_event: false,
      parameters,
      handler: `export default async (args, ctx) => {
        await ctx.emitWebhook("from.handler", { n: args.n, password: "kept" });
        await ctx.callTool("emitWebhookEvent", { name: "from.shared", data: { n: args.n } });
        return { success: true };
      };`,
    });
    await runner.saveTool("emits_below", {
      ...released,
      webhook_event: false,
      parameters,
      handler: 'export default (args, ctx) => ctx.callTool("emits", args);',
    });
    await runner.saveTool("large", {
      ...released,
      parameters,
      handler: "export default ({ n }) => ({ success: true, text: 'x'.repeat(n) });",
    });
    await runner.saveTool("refuses", {
      ...released,
      handler: 'export default () => ({ success: false, error: "sold out", left: 0 });',
    });
    await runner.saveTool("closed", { handler: "export default () => ({ open: true });" });
  });
  afterAll(async () => {
    await runner[Symbol.asyncDispose]();
    await outbound[Symbol.asyncDispose]();
  });

  const run = (caller: Caller, tool: string, args: Record<string, unknown> = {}, request = {}) =>
    runsOf(SERVICE_OF[caller.case ?? "key"]).run({
      workspaceId: runner.workspaceId,
      workspace: "acme",
      workspaceEpoch: BigInt(Date.now()) * 1000n,
      tool,
      body: Buffer.from(JSON.stringify({ args })),
      caller: signedCaller(caller, { workspaceId: runner.workspaceId, workspace: "acme", tool }),
      ...request,
    });

  /** The events that `work` causes, sorted by type. */
  async function reported(work: () => Promise<unknown>): Promise<(Body & { hop: string })[]> {
    const before = outbound.requestsTo("/runs").length;
    await work();
    // A run's events are in the outbox when it ends, and stay there until their deliveries are stored.
    await eventually(async () => expect((await runner.pool.query("select from tool_runner.outbox")).rowCount).toBe(0), {
      deadlineMs: SETTLE_DEADLINE_MS,
    });
    const expected = await outbound.pool.query(
      "select count(*)::int as count from outbound_webhook.delivery where workspace_id = $1",
      [runner.workspaceId],
    );
    const requests = await eventually(() => {
      const all = outbound.requestsTo("/runs");
      return all.length === expected.rows[0].count && all.slice(before);
    });
    return requests
      .map((request) => ({ ...JSON.parse(String(request.body)), hop: String(request.headers["x-service-hop"]) }))
      .sort((a, b) => a.type.localeCompare(b.type));
  }

  it("[OUT-17] [EVT-23] tool.completed is sent whole while its body has at most 262,144 bytes, and truncated above", async () => {
    // Between these and the limit is room for the envelope, and for a duration of any length.
    for (const [characters, isWhole] of [
      [261_300, true],
      [262_100, false],
    ] as const) {
      const [event] = await reported(() => run(KEY, "large", { n: characters }));
      expect(event?.data.truncated).toBe(isWhole ? undefined : true);
      const result = event?.data.result as { text: string } | null;
      expect(result?.text.length).toBe(isWhole ? characters : undefined);
    }
  });

  it("[EVT-8] [EVT-23] [EVT-25] [EVT-26] [EVT-27] [EVT-28] runs by key, chat, scheduled task and public API send tool.completed", async () => {
    const callers = { api_key: KEY, chat: CHAT, scheduled_task: TASK, public_api: PUBLIC };
    const expected: object[] = [];
    const events = await reported(async () => {
      for (const [entryType, caller] of Object.entries(callers)) {
        const common = { tool: "reported", entry_type: entryType, duration_ms: expect.any(Number) };
        const { executionId } = await run(caller, "reported", { n: 3, password: "p" });
        expected.push({
          ...{ ...common, execution_id: executionId, success: true, error: null },
          args: { n: 3, password: "[entfernt]" },
          result: { success: true, n: 3, token: "[entfernt]" },
        });
        const failed = await run(caller, "reported", { fail: true });
        const error = expect.stringContaining("no stock");
        expected.push({
          ...{ ...common, execution_id: failed.executionId, success: false, error },
          args: { fail: true },
          result: {},
        });
      }
    });
    expect(events.map(({ hop: _, ...body }) => schemaErrors(body))).toEqual(events.map(() => null));
    expect(events.map(({ hop }) => hop)).toEqual(events.map(() => "1"));
    expect(events).toHaveLength(expected.length);
    const data = new Map(events.map((event) => [event.data.execution_id, event.data]));
    expect(expected.map((one) => data.get((one as Body).execution_id))).toEqual(expected);
  });

  it("[EVT-23] a failure that the tool itself reports stays in the result", async () => {
    const [event] = await reported(async () => void (await run(KEY, "refuses")));
    const result = { success: false, error: "sold out", left: 0 };
    expect(event?.data).toMatchObject({ success: false, error: "sold out", result });
  });

  const forHook = { case: "chat", value: { ...CHAT.value, hop: 2 } } as Caller;
  it.each<[title: string, callers: Caller[], tools: string[]]>([
    ["[LOOP-1] hook runs and an assistant's runs for a hook send no tool.completed", [HOOK, forHook], ["reported"]],
    [
      "[EVT-29] a tool called by another tool sends no tool.completed, for any caller",
      Object.values(CALLERS),
      ["outer"],
    ],
    [
      "[EVT-59] test mode sends neither tool.completed nor custom events",
      [CHAT, TASK, PUBLIC, HOOK].map(inTestMode),
      ["reported", "emits_below"],
    ],
  ])("%s", async (_title, callers, tools) => {
    const events = await reported(async () => {
      for (const caller of callers)
        for (const tool of tools) expect((await run(caller, tool, { n: 1 })).outcome.case).toBe("resultJson");
    });
    expect(events).toEqual([]);
  });

  it("[EVT-30] the test of a tool, as a dry run from the console or a command line, sends no tool.completed", async () => {
    const events = await reported(async () => {
      const { outcome } = await runner.tools.dryRun({ tool: "reported", args: { n: 1 } });
      expect(outcome.case).toBe("resultJson");
    });
    expect(events).toEqual([]);
  });

  it("[EVT-17] [EVT-53] [LOOP-2] custom events of every run, also from nested runs, are sent as passed, with hop 2 for a hook and 1 for all others", async () => {
    const callers = Object.values(CALLERS);
    const events = await reported(async () => {
      for (const [n, caller] of callers.entries())
        for (const tool of ["emits", "emits_below"]) await run(caller, tool, { n });
    });
    expect(events.map(({ hop: _, ...body }) => schemaErrors(body))).toEqual(events.map(() => null));
    for (const [n, caller] of callers.entries()) {
      const own = events.filter(({ data }) => data.n === n).map(({ type, data, hop }) => [type, data, hop]);
      const hop = caller === HOOK ? "2" : "1";
      const handler = ["custom.from.handler", { n, password: "kept" }, hop];
      const shared = ["custom.from.shared", { n }, hop];
      expect(own).toEqual([handler, handler, shared, shared]);
    }
  });
});
