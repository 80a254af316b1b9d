import pLimit from "p-limit";
import type { BenchInstallation } from "../installation/start-installation.ts";

/** A hook to send to. */
export type BenchHook = { id: string; path: string; secret: string; workspace: string; workspaceId: string };

/** Calls per clock minute, the highest limit that a hook can have. */
const MAX_CALLS_PER_MINUTE = 10_000;

const CONCURRENT_REQUESTS = 4;
/** As many as there are database connections: each occupies one while a password is hashed. */
const CONCURRENT_WORKSPACES = 2;
/** Of each tool; the bench waits this long for those that hang. */
const TIMEOUT_MS = 2_000;
const PARAMETERS = {
  type: "object",
  properties: { text: { type: "string" }, order: { type: "object" }, count: { type: "integer" } },
};
export const QUICK = "export default async ({ text, count }) => ({ success: true, text, count });";
/** Until its time is up. */
export const HANGING = "export default () => new Promise(() => {});";
export const EXHAUSTING_CPU = "export default () => { for (;;); };";
export const EXHAUSTING_MEMORY =
  "export default () => { const kept = []; for (;;) kept.push(new Array(10_000).fill(kept.length)); };";

type HooksOptions = {
  workspaces: readonly string[];
  perWorkspace: number;
  handler: string;
  /** Default: the native one. */
  format?: "HOOK_FORMAT_NATIVE" | "HOOK_FORMAT_BEARER";
};

/** Makes workspaces, each with a tool and hooks that trigger it. Neighbours in the list belong to different workspaces. */
export async function addHooks(
  { addWorkspace, manage }: BenchInstallation,
  { workspaces, perWorkspace, handler, format = "HOOK_FORMAT_NATIVE" }: HooksOptions,
): Promise<BenchHook[]> {
  const ids = await pLimit(CONCURRENT_WORKSPACES).map([...workspaces], async (workspace) => {
    const id = await addWorkspace(workspace);
    const definition = {
      description: "Target of hooks",
      inbound_hook: true,
      parameters: PARAMETERS,
      handler,
      timeout_ms: TIMEOUT_MS,
    };
    await manage("tool_runner.v1.ToolService/SaveTool", {
      workspace,
      name: "target",
      definition,
      confirmExposure: true,
    });
    return id;
  });
  const plan = Array.from({ length: perWorkspace * workspaces.length }, (_, index) => index % workspaces.length);
  return pLimit(CONCURRENT_REQUESTS).map(plan, async (at, index) => {
    const workspace = workspaces[at] as string;
    const request = {
      workspace,
      name: `Hook ${index}`,
      format,
      target: { tool: "target" },
      arguments: { fields: {} },
      limit: MAX_CALLS_PER_MINUTE,
    };
    const made = await manage<{ hook: { id: string }; url: string; secret: string }>(
      "inbound_hook.v1.HookService/CreateHook",
      request,
    );
    const path = new URL(made.url, "http://localhost").pathname;
    return { id: made.hook.id, path, secret: made.secret, workspace, workspaceId: ids[at] as string };
  });
}
