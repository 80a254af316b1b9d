import { type CacheSource, createWorkspaceCache } from "@toolgate/epoch/cache";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { LRUCache } from "lru-cache";
import { findDataSource } from "../../store/data-sources.ts";
import { ToolError } from "../errors.ts";
import { endOf, type RunScope } from "../run.ts";
import type { FindServer } from "./find-server.ts";
import { createForeignPool, type ForeignPool } from "./foreign-pool.ts";
import { runStatement, type Statement, type StatementResult } from "./run-statement.ts";

export type DataSources = ReturnType<typeof createDataSources>;

const MAX_SEALED_BYTES = 32 * 1024 * 1024;
const MAX_POOLS = 200;
const CONNECTIONS_PER_WORKSPACE = 4;

/** The workspaces' own databases. */
export function createDataSources(deps: { pool: Pool; secretBox: SecretBox; findServer: FindServer } & CacheSource) {
  const sealedUrls = createWorkspaceCache<Buffer | undefined>(deps, {
    name: "data sources",
    maxBytes: MAX_SEALED_BYTES,
    sizeOf: (sealed) => sealed?.byteLength ?? 0,
  });
  // A pool stays open while the URL is the same, even under a new epoch.
  const pools = new LRUCache<string, Promise<ForeignPool>>({
    max: MAX_POOLS,
    dispose: (pool) => void pool.then((owned) => owned.end()).catch(() => {}),
  });

  async function open(workspaceId: string, sealed: Buffer): Promise<ForeignPool> {
    const found = await deps.findServer(deps.secretBox.open(sealed, dataSourceContext(workspaceId)), workspaceId);
    if (!found.ok) throw new ToolError("DATA_SOURCE", `the data source cannot be used: ${found.reason}`);
    return createForeignPool(found.server, CONNECTIONS_PER_WORKSPACE);
  }

  return {
    /** Runs one statement until its time is up or the signal aborts. Rejects with a ToolError. */
    async run(
      { workspaceId, epoch }: Pick<RunScope, "workspaceId" | "epoch">,
      statement: Statement,
      runSignal?: AbortSignal,
    ): Promise<StatementResult> {
      const sealed = await sealedUrls.get(
        workspaceId,
        epoch,
        async () => (await findDataSource(deps.pool, workspaceId))?.sealedUrl,
      );
      if (!sealed) throw new ToolError("NO_DATA_SOURCE", "the workspace has no data source");
      const key = `${workspaceId}/${sealed.toString("base64")}`;
      return withinTime(statement.timeoutMs, runSignal, async (signal) => {
        const pool = pools.get(key) ?? open(workspaceId, sealed);
        pools.set(key, pool);
        try {
          return await runStatement(await pool, statement, signal);
        } catch (error) {
          // It could not be opened, or the host name may have another address by now.
          const isUnusable = !(error instanceof ToolError) || error.code === "DATA_SOURCE";
          if (isUnusable && pools.peek(key) === pool) pools.delete(key);
          throw error;
        }
      });
    },
    async [Symbol.asyncDispose]() {
      const ending = [...pools.values()].map((pool) => pool.then((owned) => owned.end()).catch(() => {}));
      pools.clear();
      await Promise.all(ending);
    },
  };
}

/** Binds a sealed URL to its workspace. */
export function dataSourceContext(workspaceId: string): string {
  return `data-source:${workspaceId}`;
}

/** Rejects when the time is up or the run has ended, even while `work` does not react to its signal, as in a lookup. */
async function withinTime<T>(
  timeoutMs: number,
  runSignal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = endOf(timeoutMs, runSignal);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => {
    if (runSignal?.aborted) reject(new ToolError("CANCELLED", "the run has ended"));
    else reject(new ToolError("TIMEOUT", "the data source did not respond in time"));
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([stopped, work(signal)]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
