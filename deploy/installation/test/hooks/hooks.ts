import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import type { Setup, TopologyKind } from "../installation.ts";
import { type CallResponse, type RequestOptions, type RunningToolgate, runToolgate } from "../running-toolgate.ts";

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

/** A hook of the native format for the tool `echo`, unless the request says otherwise. */
export async function createHook({ manage }: Manager, request: Record<string, unknown> = {}): Promise<TestHook> {
  const made = await manage<{ hook: { id: string }; url: string; secret?: string }>(
    "inbound_hook.v1.HookService/CreateHook",
    { name: "Test hook", format: "HOOK_FORMAT_NATIVE", target: { tool: "echo" }, limit: 10_000, ...request },
  );
  return { id: made.hook.id, path: new URL(made.url, "http://localhost").pathname, secret: made.secret ?? "" };
}

/** A call in the native format, signed now. */
export function callHook(
  { request }: Pick<RunningToolgate, "request">,
  { path, secret }: Pick<TestHook, "path" | "secret">,
  body: string,
  { headers, ...more }: RequestOptions = {},
): Promise<CallResponse> {
  const signature = sign(secret, Math.floor(Date.now() / 1000), body);
  return request(path, { ...more, method: "POST", headers: { "x-service-signature": signature, ...headers }, body });
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
export async function runHooks(kind: TopologyKind, setup: Setup = {}): Promise<RunningToolgate> {
  const toolgate = await runToolgate(kind, setup);
  await toolgate.saveTool("echo", ECHO);
  return toolgate;
}
