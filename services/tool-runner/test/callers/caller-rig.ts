import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { type RunRequestSchema, type RunResponse, RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { createLogger } from "@toolgate/service-host/process/logger";
import { unaryRoutes } from "@toolgate/service-host/rpc/hot-calls";
import type { ServiceName } from "@toolgate/service-registry/services";
import { signedCaller } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

export type Caller = NonNullable<MessageInitShape<typeof RunRequestSchema>["caller"]>;

const HOOK_VALUE = {
  chatId: "hook_9_1_x",
  hookId: "9",
  hookName: "Shop",
  deliveryId: "delivery-1",
  externalId: "order-1",
  receivedAt: "2026-11-21T08:00:00Z",
};
export const CHAT: Caller = { case: "chat", value: { chatId: "chat-1", callerId: "user-1", hop: 1 } };
export const TASK: Caller = { case: "scheduledTask", value: { chatId: "", taskId: "task-1", hop: 1 } };
export const PUBLIC: Caller = { case: "publicApi", value: { chatId: "public-1", callerId: "visitor" } };
export const HOOK: Caller = { case: "hook", value: HOOK_VALUE };

/** The service that starts runs of a kind. */
export const SERVICE_OF: Record<NonNullable<Caller["case"]>, ServiceName> = {
  key: "gateway",
  chat: "chat",
  scheduledTask: "chat",
  publicApi: "gateway",
  hook: "inbound-hook",
};

/** A tool-runner with clients that call it as each kind of caller. */
export async function startCallerRig() {
  const runner = await startToolRunnerRig();
  const [replica] = runner.replicas as [ToolRunnerRig["replicas"][number]];
  const log = createLogger({ service: "test", level: "silent" });
  const runsOf = (service: ServiceName) =>
    createClient(RunService, testTransport(unaryRoutes("tool-runner", replica), log, service));

  const run = async (caller: Caller, tool: string, args: JsonObject = {}): Promise<RunResponse> =>
    runsOf(SERVICE_OF[caller.case ?? "key"]).run({
      workspaceId: runner.workspaceId,
      workspace: "acme",
      workspaceEpoch: await runner.currentEpoch(),
      tool,
      body: Buffer.from(JSON.stringify({ args })),
      caller: signedCaller(caller, { workspaceId: runner.workspaceId, workspace: "acme", tool }),
    });
  /** The result of a run that must succeed. */
  async function resultOf(caller: Caller, tool: string, args: JsonObject = {}) {
    const { outcome } = await run(caller, tool, args);
    if (outcome.case !== "resultJson") throw new Error(`${tool} ended as ${outcome.case}`);
    return JSON.parse(Buffer.from(outcome.value).toString());
  }
  return { runner, runsOf, run, resultOf };
}

export type CallerRig = Awaited<ReturnType<typeof startCallerRig>>;
