import type { ActiveRun } from "./active-run.ts";
import { mayTakeOne } from "./share.ts";

/** Tools that may have runs in one child at once; below its bound on isolates, some of which may be on their way out. */
const MAX_TOOLS_AT_ONCE = 96;

/** The runs that a child has been given and has not ended, and what room they leave. */
export type RunsInHand = {
  readonly size: number;
  get: (ticket: number) => ActiveRun | undefined;
  add: (ticket: number, run: ActiveRun) => void;
  remove: (ticket: number) => ActiveRun | undefined;
  removeAll: () => [ticket: number, run: ActiveRun][];
  /** The child had no isolate for this one; it is not asked again before one of its runs has ended. */
  refuse: (ticket: number) => ActiveRun | undefined;
  /** Whether the child has an isolate for the run, or may open one within the workspace's share. */
  hasIsolateFor: (run: ActiveRun) => boolean;
};

export function createRunsInHand(): RunsInHand {
  const runs = new Map<number, ActiveRun>();
  const runsOfTool = new Map<string, number>();
  const toolsOfWorkspace = new Map<string, number>();
  const refusedTools = new Set<string>();

  const remove = (ticket: number) => {
    const run = runs.get(ticket);
    if (run === undefined) return undefined;
    runs.delete(ticket);
    refusedTools.clear();
    const { key, workspaceId } = run.request;
    if (count(runsOfTool, key, -1) === 0) count(toolsOfWorkspace, workspaceId, -1);
    return run;
  };
  return {
    get size() {
      return runs.size;
    },
    get: (ticket) => runs.get(ticket),
    add: (ticket, run) => {
      const { key, workspaceId } = run.request;
      runs.set(ticket, run);
      if (count(runsOfTool, key, 1) === 1) count(toolsOfWorkspace, workspaceId, 1);
    },
    remove,
    removeAll: () => {
      const all = [...runs];
      for (const [ticket] of all) remove(ticket);
      return all;
    },
    refuse: (ticket) => {
      const run = remove(ticket);
      if (run !== undefined) refusedTools.add(run.request.key);
      return run;
    },
    hasIsolateFor: ({ request: { key, workspaceId } }) => {
      if (refusedTools.has(key)) return false;
      if (runsOfTool.has(key)) return true;
      if (refusedTools.size > 0) return false;
      return mayTakeOne(toolsOfWorkspace.get(workspaceId) ?? 0, runsOfTool.size, MAX_TOOLS_AT_ONCE);
    },
  };
}

function count(counts: Map<string, number>, name: string, by: number): number {
  const now = (counts.get(name) ?? 0) + by;
  if (now === 0) counts.delete(name);
  else counts.set(name, now);
  return now;
}
