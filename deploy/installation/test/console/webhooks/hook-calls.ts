import { sign } from "@toolgate/webhook-signing/sign";
import type { ConsoleRig } from "../console-rig.ts";

/** A tool with two arguments, to map to. */
export const ORDER = {
  inbound_hook: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, amount: { type: "number" } },
    required: ["amount"],
  },
  handler: "export default ({ city, amount }) => ({ city, amount });",
};

/** Where a hook is called, and what its calls are signed with. */
export interface HookAccess {
  url: string;
  secret: string;
}

interface Call {
  headers?: Record<string, string>;
  /** Of the signature; the current time when not set. */
  unixTime?: number;
  /** The header of the signature. */
  header?: string;
}

/** A hook of the native format that runs a tool. */
export async function createHook(
  { toolgate }: ConsoleRig,
  hook: { name: string; tool: string; [field: string]: unknown },
): Promise<HookAccess & { id: string }> {
  const { tool, ...fields } = hook;
  const created = await toolgate.manage<HookAccess & { hook: { id: string } }>(
    "inbound_hook.v1.HookService/CreateHook",
    { format: "HOOK_FORMAT_NATIVE", target: { tool }, ...fields },
  );
  return { url: created.url, secret: created.secret, id: created.hook.id };
}

/** Calls a hook as its sender does. */
export async function callHook(
  { toolgate }: ConsoleRig,
  { url, secret }: HookAccess,
  body: string,
  { headers = {}, unixTime = Math.floor(Date.now() / 1000), header = "x-service-signature" }: Call = {},
): Promise<{ status: number; deliveryId: string }> {
  const response = await fetch(new URL(new URL(url, toolgate.baseUrl).pathname, toolgate.baseUrl), {
    method: "POST",
    headers: { "content-type": "application/json", [header]: sign(secret, unixTime, body), ...headers },
    body,
  });
  const { delivery_id: deliveryId = "" } = (await response.json()) as { delivery_id?: string };
  return { status: response.status, deliveryId };
}
