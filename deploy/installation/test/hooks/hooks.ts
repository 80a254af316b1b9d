import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import {
  type CallResponse,
  type RunningToolgate,
  runToolgate,
  type Setup,
  type TopologyKind,
} from "../running-toolgate.ts";

type Manager = Pick<RunningToolgate, "manage">;

/** A hook, and where to send calls to it. */
export interface TestHook {
  id: string;
  /** The path of the hook's URL. */
  path: string;
  /** Empty for a provider's secret. */
  secret: string;
}

/** A line of the hook log. */
export interface LoggedDelivery {
  id: string;
  status: string;
  externalId: string;
  error: string;
  runs: number;
}

/** Returns its text and the name of the hook. */
export const ECHO = {
  inbound_hook: true,
  parameters: { type: "object", properties: { text: { type: "string" } } },
  handler: "export default async ({ text, _webhook }) => ({ success: true, text, hook: _webhook.hook_name });",
};

/** A hook for the tool `echo`, unless the request names another target. */
export async function createHook({ manage }: Manager, request: Record<string, unknown>): Promise<TestHook> {
  const made = await manage<{ hook: { id: string }; url: string; secret?: string }>(
    "inbound_hook.v1.HookService/CreateHook",
    { name: "Test hook", target: { tool: "echo" }, limit: 10_000, ...request },
  );
  return { id: made.hook.id, path: new URL(made.url, "http://localhost").pathname, secret: made.secret ?? "" };
}

export function post(
  { request }: Pick<RunningToolgate, "request">,
  { path }: Pick<TestHook, "path">,
  { body, headers }: { body: string; headers: Record<string, string> },
): Promise<CallResponse> {
  return request(path, { method: "POST", body: Buffer.from(body), headers });
}

/** Newest first. */
export async function hookLog({ manage }: Manager, hookId: string): Promise<LoggedDelivery[]> {
  const { deliveries = [] } = await manage<{ deliveries?: LoggedDelivery[] }>(
    "inbound_hook.v1.HookDeliveryService/ListHookDeliveries",
    { hookId, pageSize: 100 },
  );
  return deliveries;
}

/** What the target returned, once it has ended. */
export function resultOf({ manage }: Manager, deliveryId: string): Promise<unknown> {
  return eventually(async () => {
    const { delivery, hookRuns = [] } = await manage<{ delivery: LoggedDelivery; hookRuns?: { result: string }[] }>(
      "inbound_hook.v1.HookDeliveryService/GetHookDelivery",
      { deliveryId },
    );
    if (/WAITING|RUNNING/.test(delivery.status)) return false;
    if (!delivery.status.endsWith("SUCCEEDED")) return { error: delivery.error };
    return JSON.parse(hookRuns.at(-1)?.result ?? "null");
  });
}

/** An installation whose tool `echo` is released for hooks. */
export interface RunningHooks extends AsyncDisposable {
  toolgate: RunningToolgate;
  createHook(hook?: Record<string, unknown>): Promise<TestHook>;
  /** A call in the native format. */
  call(hook: TestHook, body: string): Promise<CallResponse>;
}

export async function runHooks(kind: TopologyKind, setup: Setup = {}): Promise<RunningHooks> {
  const toolgate = await runToolgate(kind, setup);
  await toolgate.saveTool("echo", ECHO);
  return {
    toolgate,
    createHook: (hook) => createHook(toolgate, { format: "HOOK_FORMAT_NATIVE", ...hook }),
    call({ path, secret }, body) {
      const headers = { "x-service-signature": sign(secret, Math.floor(Date.now() / 1000), body) };
      return toolgate.request(path, { method: "POST", body, headers });
    },
    [Symbol.asyncDispose]: () => toolgate[Symbol.asyncDispose](),
  };
}
