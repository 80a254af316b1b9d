import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { createHook, type TestHook } from "../hooks/hooks.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import { addWorkspace } from "./workspaces.ts";

const NUMBER = { type: "object", properties: { n: { type: "integer" } } };
const PLAIN = { external_api: true, parameters: NUMBER, handler: "export default async ({ n }) => ({ n });" };
/** A run that has called the host is not begun again when it is cut off. */
const HOSTED = {
  external_api: true,
  parameters: NUMBER,
  handler: "export default async ({ n }, ctx) => ({ n: (await ctx.callTool('plain', { n })).n });",
};
const HOOKED = { inbound_hook: true, handler: "export default async ({ n }) => ({ n });" };
/** Of each kind. */
const CALLS_PER_SECOND = 12;
const CALL_TIMEOUT_MS = 60_000;
/** Longer than any machine takes for a call that is the only one of its kind. */
const PATIENT_TIMEOUT_MS = 240_000;
const HOOK_RUNS_DEADLINE_MS = 240_000;

export const NEIGHBOUR_KINDS = ["plain call", "call that has called the host", "hook call"] as const;

export type NeighbourKind = (typeof NEIGHBOUR_KINDS)[number];

/** A call of another workspace than the attacker's. */
interface NeighbourCall {
  kind: NeighbourKind;
  sentAtMs: number;
  /** From when it was due until its response. */
  tookMs: number;
  /** Undefined when it got the right response. */
  lost: string | undefined;
}

export interface Neighbours {
  readonly calls: readonly NeighbourCall[];
  /** Sends all kinds at a fixed rate until the signal; resolves when the last has its response. */
  sendAtRate(signal: AbortSignal): Promise<void>;
  /** The same, each call only after the last one of its kind, so that no call is lost because the machine is slow. */
  sendInTurn(signal: AbortSignal): Promise<void>;
  /** Hook calls that were accepted and whose runs did not succeed. */
  lostHookRuns(): Promise<number>;
}

type Send = (n: number, timeoutMs: number) => Promise<string | undefined>;

/** Three workspaces: one calls a plain tool, one a tool that calls another, and one has a hook. */
export async function startNeighbours(toolgate: RunningToolgate): Promise<Neighbours> {
  const hook = await addHook(toolgate);
  const sends: Record<NeighbourKind, Send> = {
    "plain call": await callerOf(toolgate, "quiet-plain", "plain"),
    "call that has called the host": await callerOf(toolgate, "quiet-hosted", "hosted"),
    "hook call": (n, timeoutMs) => callHook(toolgate, hook, n, timeoutMs),
  };
  const calls: NeighbourCall[] = [];
  const callOnce = async (kind: NeighbourKind, n: number, dueMs: number, timeoutMs: number) => {
    const sentAtMs = performance.now();
    const lost = await sends[kind](n, timeoutMs).catch(String);
    calls.push({ kind, sentAtMs, tookMs: performance.now() - dueMs, lost });
  };
  return {
    calls,
    async sendAtRate(signal) {
      const open: Promise<void>[] = [];
      const beganMs = performance.now();
      for (let n = 0; !signal.aborted; n += 1) {
        const dueMs = beganMs + (n * 1_000) / CALLS_PER_SECOND;
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await sleep(waitMs);
        for (const kind of NEIGHBOUR_KINDS) open.push(callOnce(kind, n, dueMs, CALL_TIMEOUT_MS));
      }
      await Promise.all(open);
    },
    async sendInTurn(signal) {
      const sendKind = async (kind: NeighbourKind) => {
        for (let n = 0; !signal.aborted; n += 1) {
          await callOnce(kind, n, performance.now(), PATIENT_TIMEOUT_MS);
          await sleep(1_000 / CALLS_PER_SECOND);
        }
      };
      await Promise.all(NEIGHBOUR_KINDS.map(sendKind));
    },
    async lostHookRuns() {
      const unfinished = `select count(*)::integer as count from inbound_hook.delivery
                          where hook_id = $1 and status not in ('succeeded', 'failed', 'interrupted')`;
      const done = async () => (await toolgate.pool.query(unfinished, [hook.id])).rows[0].count === 0;
      await eventually(done, { deadlineMs: HOOK_RUNS_DEADLINE_MS }).catch(() => {});
      const lost =
        "select count(*)::integer as count from inbound_hook.delivery where hook_id = $1 and status <> 'succeeded'";
      return (await toolgate.pool.query(lost, [hook.id])).rows[0].count;
    },
  };
}

async function callerOf(toolgate: RunningToolgate, workspace: string, tool: string): Promise<Send> {
  const { saveTool, createKey } = await addWorkspace(toolgate, workspace);
  await saveTool("plain", PLAIN);
  await saveTool("hosted", HOSTED);
  const secret = await createKey([tool]);
  return async (n, timeoutMs) => {
    const { status, text } = await toolgate.request(`/api/v1/tools/${tool}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ args: { n } }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return status === 200 && JSON.parse(text).n === n ? undefined : `${status} ${text}`;
  };
}

async function addHook(toolgate: RunningToolgate): Promise<TestHook> {
  const { manage, saveTool } = await addWorkspace(toolgate, "quiet-hooked");
  await saveTool("hooked", HOOKED);
  return createHook({ manage }, { format: "HOOK_FORMAT_BEARER", target: { tool: "hooked" } });
}

/** Repeated when it gets a 503, as senders do. */
async function callHook(
  toolgate: RunningToolgate,
  hook: TestHook,
  n: number,
  timeoutMs: number,
): Promise<string | undefined> {
  const id = `${n}-${performance.now()}`;
  const signal = AbortSignal.timeout(timeoutMs);
  for (;;) {
    const { status, text } = await toolgate.request(hook.path, {
      method: "POST",
      headers: { authorization: `Bearer ${hook.secret}`, "x-delivery-id": id },
      body: JSON.stringify({ n }),
      signal,
    });
    if (status === 202 || status === 200) return undefined;
    if (status !== 503) return `${status} ${text}`;
    await sleep(100, undefined, { signal });
  }
}
