import type { ActiveRun } from "./active-run.ts";

/** Runs accepted and not yet answered, counted for each workspace. */
export type ActiveRuns = Iterable<ActiveRun> & {
  readonly size: number;
  /** How many of them are the workspace's. */
  of: (workspaceId: string) => number;
  add: (run: ActiveRun) => void;
  delete: (run: ActiveRun) => void;
};

export function createActiveRuns(): ActiveRuns {
  const runs = new Set<ActiveRun>();
  const counts = new Map<string, number>();
  return {
    get size() {
      return runs.size;
    },
    of: (workspaceId) => counts.get(workspaceId) ?? 0,
    add: (run) => {
      const { workspaceId } = run.request;
      runs.add(run);
      counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
    },
    delete: (run) => {
      if (!runs.delete(run)) return;
      const { workspaceId } = run.request;
      const left = (counts.get(workspaceId) ?? 0) - 1;
      if (left > 0) counts.set(workspaceId, left);
      else counts.delete(workspaceId);
    },
    [Symbol.iterator]: () => runs.values(),
  };
}
