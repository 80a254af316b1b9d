import { setTimeout as sleep } from "node:timers/promises";
import type { RunningToolgate } from "../running-toolgate.ts";

/** One in this many calls, always of `emitter`, emits a second event, for a slow receiver. */
const CALLS_PER_SLOW_EVENT = 36;
const SLOW_CALL = 5;

/** The tools that are called in turn; each call has its own number, which the tool returns. */
export const TOOLS = {
  plain: { handler: "export default async ({ n }) => ({ success: true, n });" },
  reported: { webhook_event: true, handler: "export default async ({ n }) => ({ success: true, n });" },
  emitter: {
    handler: `export default async ({ n }, ctx) => {
      await ctx.emitWebhook("number.seen", { n });
      if (n % ${CALLS_PER_SLOW_EVENT} === ${SLOW_CALL}) await ctx.emitWebhook("number.slow", { n });
      return { success: true, n };
    };`,
  },
} as const;

export type ToolName = keyof typeof TOOLS;

/** Calls that are counted together; each phase has its own key, so that its log can be counted exactly. */
export interface Phase {
  index: number;
  key: { id: string; secret: string };
  /** 0 before it has begun. */
  enteredAtMs: number;
}

/** One call and its outcome. */
export interface LoadedCall {
  n: number;
  tool: ToolName;
  phase: Phase;
  sentAtMs: number;
  endedAtMs: number;
  /** 0: the connection broke without a response; -1: no response within `HANG_MS`. */
  status: number;
  text: string;
  /** The response has the limit's headers, so the key was verified. */
  verified: boolean;
}

/** The types of the events that a call of this tool with this number causes. */
export function eventsOf({ tool, n }: Pick<LoadedCall, "tool" | "n">): string[] {
  if (tool === "reported") return ["tool.completed"];
  if (tool !== "emitter") return [];
  return ["custom.number.seen", ...(n % CALLS_PER_SLOW_EVENT === SLOW_CALL ? ["custom.number.slow"] : [])];
}

export interface Load {
  /** In the order in which they ended. */
  readonly calls: readonly LoadedCall[];
  /** The number of the latest call that has begun. */
  readonly lastNumber: number;
  /** The calls that begin from now on belong to it. */
  enter(phase: Phase): void;
  /** Resolves when the calls under way have ended. */
  stop(): Promise<void>;
}

export const HANG_MS = 15_000;
const CLIENTS = 8;
/** Pause of a client between two calls, so that the load stays below the machine's capacity. */
const REST_MS = 90;

/** Callers in a closed loop until they are stopped. */
export function startLoad({ request }: Pick<RunningToolgate, "request">, first: Phase): Load {
  const calls: LoadedCall[] = [];
  const stopping = new AbortController();
  const names = Object.keys(TOOLS) as ToolName[];
  let phase = first;
  phase.enteredAtMs = Date.now();
  let last = 0;
  async function client(): Promise<void> {
    while (!stopping.signal.aborted) {
      last += 1;
      calls.push(await callOnce(request, { n: last, tool: names[last % names.length] ?? "plain", phase }));
      await sleep(REST_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    calls,
    get lastNumber() {
      return last;
    },
    enter(next) {
      phase = next;
      phase.enteredAtMs = Date.now();
    },
    async stop() {
      stopping.abort();
      await clients;
    },
  };
}

async function callOnce(
  request: RunningToolgate["request"],
  call: { n: number; tool: ToolName; phase: Phase },
): Promise<LoadedCall> {
  const sentAtMs = Date.now();
  try {
    const { status, text, headers } = await request(`/api/v1/tools/${call.tool}`, {
      method: "POST",
      headers: { authorization: `Bearer ${call.phase.key.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ args: { n: call.n } }),
      signal: AbortSignal.timeout(HANG_MS),
    });
    return { ...call, sentAtMs, endedAtMs: Date.now(), status, text, verified: headers.has("x-ratelimit-limit") };
  } catch (error) {
    const status = (error as Error).name === "TimeoutError" ? -1 : 0;
    return { ...call, sentAtMs, endedAtMs: Date.now(), status, text: String(error), verified: false };
  }
}
