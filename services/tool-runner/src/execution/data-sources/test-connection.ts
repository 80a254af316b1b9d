import { ToolError } from "../errors.ts";
import { createForeignPool, type ForeignServer } from "./foreign-pool.ts";
import { runStatement } from "./run-statement.ts";

const TIMEOUT_MS = 10_000;
const STATEMENT = {
  text: "select 'PostgreSQL ' || current_setting('server_version') as version",
  values: [],
  readOnly: true,
  keep: false,
  timeoutMs: TIMEOUT_MS,
};

/** Opens one connection and runs a statement. `error` has the server's own words. */
export async function testConnection(server: ForeignServer, callSignal: AbortSignal) {
  const startedAt = performance.now();
  const timeUp = AbortSignal.timeout(TIMEOUT_MS);
  const pool = createForeignPool(server, 1);
  try {
    const { rowsJson } = await runStatement(pool, STATEMENT, AbortSignal.any([timeUp, callSignal]));
    const [row]: { version: string }[] = JSON.parse(rowsJson);
    return { serverVersion: row?.version ?? "", durationMs: Math.round(performance.now() - startedAt) };
  } catch (error) {
    if (timeUp.aborted) return { error: `no answer within ${TIMEOUT_MS / 1000} s` };
    if (!(error instanceof ToolError)) throw error;
    return { error: error.detail ?? error.message };
  } finally {
    await pool.end();
  }
}
