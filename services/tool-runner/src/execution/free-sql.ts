import { mayUseFreeSql } from "../domain/definitions/release.ts";
import type { DataSources } from "./data-sources.ts";
import { type RunScope, ToolError } from "./run-scope.ts";
import { withheld } from "./withheld.ts";

const MAX_SQL_CHARACTERS = 100_000;

/**
 * Runs one statement that was not prepared. [RO-4] Refused in a read-only run and to every call through an API, also with
 * the write flag: that ban is on free SQL, not on writing. In test mode it is rolled back.
 */
export async function runFreeSql(
  dataSources: DataSources,
  tool: string,
  sql: string,
  scope: RunScope,
  signal: AbortSignal,
): Promise<unknown> {
  if (!mayUseFreeSql(scope)) throw new ToolError("READ_ONLY", "free SQL is refused in this run");
  if (sql.length > MAX_SQL_CHARACTERS) {
    throw new ToolError("INVALID_ARGUMENT", `sql has at most ${MAX_SQL_CHARACTERS} characters`);
  }
  const keep = !withheld(scope, { tool, name: "executeQuery", detail: { sql } });
  const timeoutMs = Math.max(1, scope.deadline - performance.now());
  const rows = await dataSources.run(scope, { text: sql, values: [], readOnly: false, keep, timeoutMs }, signal);
  return { success: true, ...rows };
}
