import { setTimeout as sleep } from "node:timers/promises";
import { callHook, type TestHook } from "../hooks/hooks.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import { type LoadWorkspace, TOOL_NAMES, type ToolName } from "./workspace.ts";

/** One call of a tool, and its outcome. */
export interface LoadedCall {
  n: number;
  tool: ToolName;
  sentAtMs: number;
  endedAtMs: number;
  /** 0: the connection broke without a response; -1: no response within `HANG_MS`. */
  status: number;
  text: string;
  /** Undefined without a response. */
  headers?: Headers;
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

/** What was asked of an installation. */
export interface Calls {
  /** In the order in which they ended. */
  readonly calls: readonly LoadedCall[];
  /** In the order in which they began. */
  readonly hookCalls: readonly HookCall[];
  /** Calls one of the tools, and never throws. */
  call(n: number, headers?: Record<string, string>): Promise<LoadedCall>;
  /** Resolves once it has been accepted. */
  callHook(n: number): Promise<void>;
}

/** Much longer than a call may wait for a part that is down, as on a busy machine everything takes longer. */
export const HANG_MS = 30_000;
/** As the guide for senders says. */
const HOOK_RESPONSE_MS = 10_000;
const BEFORE_REPEAT_MS = 150;

export function recordCalls(toolgate: RunningToolgate, { key, hooks }: LoadWorkspace): Calls {
  const calls: LoadedCall[] = [];
  const hookCalls: HookCall[] = [];
  return {
    calls,
    hookCalls,
    async call(n, headers = {}) {
      const call = { n, tool: TOOL_NAMES[n % TOOL_NAMES.length] ?? "plain", sentAtMs: Date.now() };
      const ended = await toolgate
        .call(call.tool, key.secret, { n }, { headers, signal: AbortSignal.timeout(HANG_MS) })
        .catch((error: Error) => ({ status: error.name === "TimeoutError" ? -1 : 0, text: String(error) }));
      const made = { ...call, endedAtMs: Date.now(), ...ended };
      calls.push(made);
      return made;
    },
    async callHook(n) {
      const call: HookCall = { n, sentAtMs: Date.now(), statuses: [], deliveryIds: [] };
      hookCalls.push(call);
      const hook = hooks[n % hooks.length] as TestHook;
      const headers = { "x-service-delivery": `call-${n}` };
      while (call.deliveryIds.length === 0) {
        const signal = AbortSignal.timeout(HOOK_RESPONSE_MS);
        const response = await callHook(toolgate, hook, JSON.stringify({ n }), { headers, signal }).catch(
          () => undefined,
        );
        call.statuses.push(response?.status ?? 0);
        if (response?.status === 200 || response?.status === 202)
          call.deliveryIds.push(String(response.body.delivery_id));
        else await sleep(BEFORE_REPEAT_MS);
      }
    },
  };
}
