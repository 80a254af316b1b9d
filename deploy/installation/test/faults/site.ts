import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { createHook, type TestHook } from "../hooks/hooks.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import { eventsOf, TOOLS, type ToolName } from "./tools.ts";

/** The endpoints by path, and what each subscribes to: one responds immediately, one fails sometimes, one is slow. */
const ENDPOINTS: Readonly<Record<string, readonly string[]>> = {
  "/all": ["tool.completed", "custom.number.seen"],
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

/** What the load of a fault test works with. */
export interface Site {
  key: { id: string; secret: string };
  hooks: readonly TestHook[];
  /** The secret of each endpoint, by path. */
  secrets: ReadonlyMap<string, string>;
  /** The requests that got a 500. */
  refused: ReadonlySet<ReceivedRequest>;
}

/** Where the events of a call have to arrive: path and type. */
export function placesOf(call: { tool: ToolName; n: number }): string[] {
  const events = eventsOf(call);
  return Object.entries(ENDPOINTS).flatMap(([path, types]) =>
    events.filter((event) => types.includes(event)).map((event) => `${path} ${event}`),
  );
}

export async function prepareSite(toolgate: RunningToolgate): Promise<Site> {
  const { receiver } = toolgate;
  const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  for (const [name, tool] of Object.entries(TOOLS))
    await toolgate.saveTool(name, { external_api: true, parameters, ...tool });
  const handler = `export default async ({ n }, ctx) => {
    await ctx.fetch("${receiver.url}${RAN}" + n, { method: "POST" });
    return { success: true, n };
  };`;
  await toolgate.saveTool("echo", { inbound_hook: true, parameters, handler });
  const key = await toolgate.createKey({ name: "load", tools: Object.keys(TOOLS), limit: 10_000 });
  const hooks: TestHook[] = [];
  for (let index = 0; index < HOOKS; index += 1)
    hooks.push(await createHook(toolgate, { format: "HOOK_FORMAT_NATIVE" }));
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
