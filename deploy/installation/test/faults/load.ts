import { setTimeout as sleep } from "node:timers/promises";
import { sign } from "@toolgate/webhook-signing/sign";
import type { TestHook } from "../hooks/hooks.ts";
import { type Load, startLoad } from "../load.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import type { Site } from "./site.ts";
import { TOOLS, type ToolName } from "./tools.ts";

/** One call of a tool, and its outcome. */
export interface LoadedCall {
  n: number;
  tool: ToolName;
  sentAtMs: number;
  endedAtMs: number;
  /** 0: the connection broke without a response; -1: no response within `HANG_MS`. */
  status: number;
  text: string;
  /** Empty without a response. */
  requestId: string;
  /** The response has the limit's headers, so the key was verified. */
  verified: boolean;
}

/** One call of a hook, repeated under the same id until it got a 200 or a 202, as a sender should. */
export interface HookCall {
  n: number;
  sentAtMs: number;
  /** Of each response; 0: the connection broke or there was no response in time. */
  statuses: number[];
  /** Delivery ids in the responses, without repeats; none while it has not been accepted. */
  deliveryIds: string[];
}

export interface FaultLoad {
  load: Load;
  /** In the order in which they ended. */
  calls: readonly LoadedCall[];
  /** In the order in which they began. */
  hookCalls: readonly HookCall[];
}

/** Much longer than a call may wait for a part that is down, as on a busy machine everything takes longer. */
export const HANG_MS = 30_000;
/** As the guide for senders says. */
const HOOK_RESPONSE_MS = 10_000;
const BEFORE_REPEAT_MS = 150;
const NAMES = Object.keys(TOOLS) as ToolName[];

/** Callers of tools and senders of hooks, below what the machine can do. */
export function startFaultLoad({ request }: Pick<RunningToolgate, "request">, { key, hooks }: Site): FaultLoad {
  const calls: LoadedCall[] = [];
  const hookCalls: HookCall[] = [];
  const load = startLoad({
    call: {
      count: 8,
      restMs: 90,
      attempt: async (n) => calls.push(await callOnce(request, key.secret, n)),
    },
    "hook call": {
      count: 2,
      restMs: 200,
      async attempt(n) {
        const call: HookCall = { n, sentAtMs: Date.now(), statuses: [], deliveryIds: [] };
        hookCalls.push(call);
        await untilAccepted(request, hooks[n % hooks.length] as TestHook, call);
      },
    },
  });
  return { load, calls, hookCalls };
}

async function callOnce(request: RunningToolgate["request"], secret: string, n: number): Promise<LoadedCall> {
  const call = { n, tool: NAMES[n % NAMES.length] ?? "plain", sentAtMs: Date.now() };
  try {
    const { status, text, headers } = await request(`/api/v1/tools/${call.tool}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ args: { n } }),
      signal: AbortSignal.timeout(HANG_MS),
    });
    const requestId = headers.get("x-request-id") ?? "";
    return { ...call, endedAtMs: Date.now(), status, text, requestId, verified: headers.has("x-ratelimit-limit") };
  } catch (error) {
    const status = (error as Error).name === "TimeoutError" ? -1 : 0;
    return { ...call, endedAtMs: Date.now(), status, text: String(error), requestId: "", verified: false };
  }
}

async function untilAccepted(request: RunningToolgate["request"], { path, secret }: TestHook, call: HookCall) {
  const body = JSON.stringify({ n: call.n });
  while (call.deliveryIds.length === 0) {
    const signature = sign(secret, Math.floor(Date.now() / 1000), body);
    const headers = { "x-service-delivery": `call-${call.n}`, "x-service-signature": signature };
    const signal = AbortSignal.timeout(HOOK_RESPONSE_MS);
    const response = await request(path, { method: "POST", headers, body, signal }).catch(() => undefined);
    call.statuses.push(response?.status ?? 0);
    if (response?.status === 200 || response?.status === 202) call.deliveryIds.push(String(response.body.delivery_id));
    else await sleep(BEFORE_REPEAT_MS);
  }
}
