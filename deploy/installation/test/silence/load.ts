import { setTimeout as sleep } from "node:timers/promises";
import type { RunningToolgate } from "../running-toolgate.ts";

/**
 * Endpoints by path and the event that they get. Those with a backlog always have deliveries waiting and respond slowly, so that
 * both slots of each are in use at any moment; nothing upstream of the queue can make them fall silent. The others get what
 * calls report while they are made.
 */
export const BACKLOGGED = ["/backlog-1", "/backlog-2", "/backlog-3", "/backlog-4"];
export const LIVE = ["/live-1", "/live-2"];
export const PATHS = [...BACKLOGGED, ...LIVE];
export const BACKLOG_EVENT = "custom.backlog";
export const LIVE_EVENT = "custom.live";
const RESPOND_AFTER_MS = 200;

const EVENTS_PER_FILL = 100;
/** Enough for a minute without new ones. */
const EVENTS_AHEAD = 600;
const TOOLS = {
  live: 'export default async ({ n }, ctx) => { await ctx.emitWebhook("live", { n }); return { n }; };',
  fill: `export default async ({ n }, ctx) => {
    await Promise.all(Array.from({ length: ${EVENTS_PER_FILL} }, (_, at) => ctx.emitWebhook("backlog", { n: n + at })));
    return { n };
  };`,
} as const;
const CALLERS = 3;
const REST_MS = 150;
const FAILED_REST_MS = 500;
const CALL_DEADLINE_MS = 15_000;

export interface Load {
  /** The numbers in the events of every call that got a 200, by event type. */
  readonly accepted: ReadonlyMap<string, readonly number[]>;
  /** Resolves when the calls under way have ended. */
  stop(): Promise<void>;
}

/** Makes endpoints, tools and a key; then calls the tools until it is stopped. */
export async function startLoad(toolgate: RunningToolgate): Promise<Load> {
  const { receiver, call } = toolgate;
  receiver.behave(({ path }) => (BACKLOGGED.includes(path) ? { delayMs: RESPOND_AFTER_MS } : {}));
  for (const path of BACKLOGGED) await toolgate.createEndpoint([BACKLOG_EVENT], path);
  for (const path of LIVE) await toolgate.createEndpoint([LIVE_EVENT], path);
  const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  for (const [name, handler] of Object.entries(TOOLS))
    await toolgate.saveTool(name, { external_api: true, external_api_write: true, parameters, handler });
  const { secret } = await toolgate.createKey({ name: "load", tools: Object.keys(TOOLS), limit: 10_000 });
  const backlog: number[] = [];
  const live: number[] = [];
  const stopping = new AbortController();
  const rest = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  const succeeds = async (tool: string, n: number) => {
    const answer = call(tool, secret, { n }).then(({ status }) => status === 200);
    return Promise.race([answer.catch(() => false), sleep(CALL_DEADLINE_MS, false, { ref: false })]);
  };
  let calls = 0;
  async function caller(): Promise<void> {
    while (!stopping.signal.aborted) {
      calls += 1;
      const n = calls;
      if (await succeeds("live", n)) live.push(n);
      await rest(REST_MS);
    }
  }
  let filled = 0;
  let read = 0;
  const arrived = new Map(BACKLOGGED.map((path) => [path, 0]));
  async function filler(): Promise<void> {
    while (!stopping.signal.aborted) {
      for (; read < receiver.requests.length; read += 1) {
        const path = receiver.requests[read]?.path ?? "";
        const count = arrived.get(path);
        if (count !== undefined) arrived.set(path, count + 1);
      }
      // A call that failed may have reported some of its events.
      if (backlog.length - Math.min(...arrived.values()) >= EVENTS_AHEAD) {
        await rest(REST_MS);
        continue;
      }
      const first = filled;
      filled += EVENTS_PER_FILL;
      const filledAll = await succeeds("fill", first);
      const numbers = Array.from({ length: EVENTS_PER_FILL }, (_, at) => first + at);
      if (filledAll) backlog.push(...numbers);
      else await rest(FAILED_REST_MS);
    }
  }
  const running = Promise.all([...Array.from({ length: CALLERS }, caller), filler()]);
  return {
    accepted: new Map([
      [BACKLOG_EVENT, backlog],
      [LIVE_EVENT, live],
    ]),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
