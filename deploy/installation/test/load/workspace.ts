import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { createHook, type TestHook } from "../hooks/hooks.ts";
import type { RunningToolgate } from "../running-toolgate.ts";

/** One in this many calls, always of `emitter`, emits a second event, for a slow receiver. */
const CALLS_PER_SLOW_EVENT = 36;
const SLOW_CALL = 5;

/** The tools that are called in turn; each call has its own number, which the tool returns. */
const TOOLS = {
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
export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];

/** The event of a hook's run. */
const HOOK_EVENT = "custom.hook.seen";
/** The endpoints by path, and what each subscribes to: one responds immediately, one fails sometimes, one is slow. */
const ENDPOINTS: Readonly<Record<string, readonly string[]>> = {
  "/all": ["tool.completed", "custom.number.seen", HOOK_EVENT],
  "/failing": ["tool.completed"],
  "/slow": ["custom.number.slow"],
};
/** Where the tool of the hooks tells the outside that it runs, so that a run is noticed even if its log line is lost. */
export const RAN = "/ran/";
const HOOKS = 3;
const MIN_SLOW_MS = 100;
const SLOW_MS_PER_STEP = 30;
const SLOW_STEPS = 16;
/** Delivery ids end in random digits: one in 16 is refused on its first arrival. */
const REFUSED_ENDING = "0";

/** A workspace for a load: a key and tools for calls, hooks, and endpoints for what they cause. */
export interface LoadWorkspace {
  key: { id: string; secret: string };
  hooks: readonly TestHook[];
  /** The secret of each endpoint, by path. */
  secrets: ReadonlyMap<string, string>;
  /** The requests that got a 500. */
  refused: ReadonlySet<ReceivedRequest>;
}

export async function prepareWorkspace(toolgate: RunningToolgate): Promise<LoadWorkspace> {
  const { receiver } = toolgate;
  const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  for (const [name, tool] of Object.entries(TOOLS))
    await toolgate.saveTool(name, { external_api: true, parameters, ...tool });
  const handler = `export default async ({ n }, ctx) => {
    await ctx.fetch("${receiver.url}${RAN}" + n, { method: "POST" });
    await ctx.emitWebhook("hook.seen", { n });
    return { success: true, n };
  };`;
  await toolgate.saveTool("echo", { inbound_hook: true, parameters, handler });
  const key = await toolgate.createKey({ name: "load", tools: TOOL_NAMES, limit: 10_000 });
  const hooks: TestHook[] = [];
  for (let index = 0; index < HOOKS; index += 1) hooks.push(await createHook(toolgate));
  const refused = new Set<ReceivedRequest>();
  const refusedOnce = new Set<string>();
  receiver.behave((request) => {
    const delivery = String(request.headers["x-service-delivery"]);
    if (request.path === "/slow") {
      const step = Number.parseInt(delivery.slice(-2), SLOW_STEPS) % SLOW_STEPS;
      return { delayMs: MIN_SLOW_MS + step * SLOW_MS_PER_STEP };
    }
    if (request.path !== "/failing" || !delivery.endsWith(REFUSED_ENDING) || refusedOnce.has(delivery)) return {};
    refusedOnce.add(delivery);
    refused.add(request);
    return { status: 500 };
  });
  const secrets = new Map<string, string>();
  for (const [path, events] of Object.entries(ENDPOINTS))
    secrets.set(path, (await toolgate.createEndpoint([...events], path)).secret);
  return { key, hooks, secrets, refused };
}

/** Where the events of a call have to arrive: path and type. */
export function placesOf({ tool, n }: { tool: ToolName; n: number }): string[] {
  if (tool === "reported") return placesOfEvent("tool.completed");
  if (tool !== "emitter") return [];
  const isSlow = n % CALLS_PER_SLOW_EVENT === SLOW_CALL;
  return ["custom.number.seen", ...(isSlow ? ["custom.number.slow"] : [])].flatMap(placesOfEvent);
}

export const placesOfHookRun = () => placesOfEvent(HOOK_EVENT);

function placesOfEvent(type: string): string[] {
  return Object.entries(ENDPOINTS)
    .filter(([, types]) => types.includes(type))
    .map(([path]) => `${path} ${type}`);
}
