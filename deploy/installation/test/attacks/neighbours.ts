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
/** Between two calls of a kind. */
const REST_MS = 80;
/** Longer than any machine takes for a call that is the only one of its kind. */
const CALL_TIMEOUT_MS = 240_000;
const HOOK_RUNS_DEADLINE_MS = 240_000;

export interface Neighbours {
  /** How many calls have ended. */
  readonly calls: number;
  /** What those got that did not get the right response. */
  readonly lost: readonly string[];
  /**
   * Sends until the signal, each call after the last one of its kind, so that none is lost because the machine is slow; resolves
   * when the last has its response.
   */
  send(signal: AbortSignal): Promise<void>;
  /** Hook calls that were accepted and whose runs did not succeed. */
  lostHookRuns(): Promise<number>;
}

/** Resolves with what was wrong with the response. */
type Send = (n: number) => Promise<string | undefined>;

/** Three workspaces: one calls a plain tool, one a tool that calls another, and one has a hook. */
export async function startNeighbours(toolgate: RunningToolgate): Promise<Neighbours> {
  const hook = await addHook(toolgate);
  const sends: Record<string, Send> = {
    "plain call": await callerOf(toolgate, "quiet-plain", "plain"),
    "call that has called the host": await callerOf(toolgate, "quiet-hosted", "hosted"),
    "hook call": (n) => callHook(toolgate, hook, n),
  };
  const lost: string[] = [];
  let calls = 0;
  return {
    get calls() {
      return calls;
    },
    lost,
    async send(signal) {
      const sendKind = async ([kind, send]: [string, Send]) => {
        for (let n = 0; !signal.aborted; n += 1) {
          const wrong = await send(n).catch(String);
          calls += 1;
          if (wrong !== undefined) lost.push(`${kind} ${n}: ${wrong}`);
          await sleep(REST_MS);
        }
      };
      await Promise.all(Object.entries(sends).map(sendKind));
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
  return async (n) => {
    const { status, text } = await toolgate.request(`/api/v1/tools/${tool}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ args: { n } }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
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
async function callHook(toolgate: RunningToolgate, hook: TestHook, n: number): Promise<string | undefined> {
  const id = `${n}-${performance.now()}`;
  const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
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
