import type { Epochs } from "@toolgate/epoch/epoch";
import type { Pool } from "@toolgate/postgres/pool";
import type { Logger } from "@toolgate/service-host/logger";
import { LRUCache } from "lru-cache";
import { APART_MS } from "../sandbox/limits.ts";
import type { SandboxOutcome, Standing } from "../sandbox/request.ts";
import { markCompleted, saveHarm } from "../store/code-history.ts";
import type { LoadedTool } from "./workspace/definitions.ts";

/** What is known about code before it runs, on all replicas: it comes with the tool, and so costs no query. */
export interface CodeHistory {
  of(tool: LoadedTool): Standing;
  /** Notes the first run of a version that ended by itself. */
  ended(workspaceId: string, tool: LoadedTool, outcome: SandboxOutcome): void;
  /** Code of the workspace has harmed a child of this process. */
  harmed(workspaceId: string, reason: string): void;
}

interface CodeHistoryDependencies {
  pool: Pool;
  epochs: Epochs;
  now: () => number;
  log: Pick<Logger, "error">;
}

/** A workspace that keeps harming children is written down again only after this long. */
const REPEAT_AFTER_MS = 60_000;
const MAX_RECENT = 10_000;

export function createCodeHistory({ pool, epochs, now, log }: CodeHistoryDependencies): CodeHistory {
  const recent = new LRUCache<string, number>({ max: MAX_RECENT });

  const recordHarm = async (workspaceId: string, reason: string) => {
    await saveHarm(pool, workspaceId, new Date(now()), reason);
    // The other replicas load the workspace's tools again, and their standing with them.
    await epochs.raise(`workspace:${workspaceId}`);
  };

  return {
    of: (tool) => {
      if (tool.harmedAtMs !== undefined && now() - tool.harmedAtMs < APART_MS) return "apart";
      return tool.completed ? "known" : "new";
    },
    ended(workspaceId, tool, { kind }) {
      if (tool.completed || (kind !== "ok" && kind !== "threw")) return;
      tool.completed = true;
      markCompleted(pool, { workspaceId, name: tool.name, version: tool.version }, new Date(now())).catch(
        (error: unknown) => log.error({ err: error }, "could not note the first run of a tool"),
      );
    },
    harmed(workspaceId, reason) {
      if (now() - (recent.get(workspaceId) ?? Number.NEGATIVE_INFINITY) < REPEAT_AFTER_MS) return;
      recent.set(workspaceId, now());
      recordHarm(workspaceId, reason).catch((error: unknown) => {
        recent.delete(workspaceId);
        log.error({ err: error, workspaceId }, "could not note that code has harmed a sandbox child");
      });
    },
  };
}
