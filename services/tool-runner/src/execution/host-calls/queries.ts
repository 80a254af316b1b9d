import { argumentValues } from "../../domain/data/named-parameters.ts";
import { mayUseFreeSql } from "../../domain/definitions/release.ts";
import type { DataSources } from "../data-sources/data-sources.ts";
import type { StatementResult } from "../data-sources/run-statement.ts";
import { ToolError } from "../errors.ts";
import { remainingMs } from "../run.ts";
import type { LoadedQuery } from "../workspace/definitions.ts";
import type { HostCallContext } from "./host-call.ts";
import { skipNote, skipsWrite } from "./skip-write.ts";

const MAX_SQL_CHARACTERS = 100_000;

type QueryContext = Pick<HostCallContext, "tool" | "scope"> & {
  entry?: HostCallContext["entry"];
  signal: AbortSignal | undefined;
};

/**
 * Runs a prepared query with named arguments and returns its result as JSON. [RO-3] A query that writes is refused in a
 * read-only run. A dry run rolls it back, so that the tool sees the rows that it would have got.
 */
export async function runPreparedQuery(
  { dataSources }: { dataSources: DataSources },
  query: LoadedQuery | undefined,
  args: Record<string, unknown>,
  context: QueryContext,
  timeoutMs: number,
): Promise<string> {
  const { scope, signal } = context;
  if (!query) throw new ToolError("NO_SUCH_QUERY", "there is no prepared query of this name");
  const writes = query.mode === "write";
  if (writes && scope.readOnly) throw new ToolError("READ_ONLY", "a writing query is refused in a read-only run");
  const skipped = writes && skipsWrite(context, "executePreparedQuery", { query: query.name, args });
  if (skipped && !scope.dryRun) return JSON.stringify({ success: true, ...skipNote(scope) });
  const values = argumentValues(query.names, args);
  const statement = { text: query.text, values, readOnly: !writes, keep: writes && !skipped, timeoutMs };
  return resultJson(await dataSources.run(scope, statement, signal));
}

/**
 * The JSON of what one statement returns that was not prepared. [RO-4] Refused in a read-only run, and to every caller
 * through an API even if the run may write. In test mode it is rolled back.
 */
export async function runFreeSql(dataSources: DataSources, sql: string, context: HostCallContext): Promise<string> {
  const { scope, signal } = context;
  if (!mayUseFreeSql(scope)) throw new ToolError("READ_ONLY", "free SQL is refused in this run");
  if (sql.length > MAX_SQL_CHARACTERS) {
    throw new ToolError("INVALID_ARGUMENT", `sql has at most ${MAX_SQL_CHARACTERS} characters`);
  }
  const keep = !skipsWrite(context, "executeQuery", { sql });
  const statement = { text: sql, values: [], readOnly: false, keep, timeoutMs: remainingMs(scope) };
  return resultJson(await dataSources.run(scope, statement, signal));
}

function resultJson({ rowsJson, rowCount }: StatementResult): string {
  return `{"rows":${rowsJson},"success":true,"row_count":${rowCount}}`;
}
