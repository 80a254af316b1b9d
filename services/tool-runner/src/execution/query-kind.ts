import { bindNamedParameters } from "../domain/data/named-parameters.ts";
import type { PreparedQueryRow } from "../store/prepared-queries.ts";
import type { DataSources } from "./data-sources.ts";
import { type RunScope, ToolError } from "./run-scope.ts";
import { withheld } from "./withheld.ts";

/**
 * Runs a prepared query with named arguments. [RO-3] A writing one is refused in a read-only run. A dry run rolls it
 * back, so that the tool sees the rows that it would have got.
 */
export async function runPreparedQuery(
  dataSources: DataSources,
  tool: string,
  query: PreparedQueryRow | undefined,
  args: Record<string, unknown>,
  scope: RunScope,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<string> {
  if (!query) throw new ToolError("NO_SUCH_QUERY", "there is no prepared query of this name");
  const writes = query.mode === "write";
  if (writes && scope.readOnly) throw new ToolError("READ_ONLY", "a writing query is refused in a read-only run");
  const held = writes && withheld(scope, { tool, name: "executePreparedQuery", detail: { query: query.name, args } });
  if (held && !scope.dryRun) return JSON.stringify({ success: true, test_mode: true });
  const { text, values } = bindNamedParameters(query.sql, args);
  const statement = { text, values, readOnly: !writes, keep: writes && !held, timeoutMs };
  const rows = await dataSources.run(scope, statement, signal);
  return JSON.stringify({ success: true, ...rows });
}
