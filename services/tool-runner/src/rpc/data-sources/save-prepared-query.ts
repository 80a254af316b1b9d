import { Code, ConnectError } from "@connectrpc/connect";
import {
  type DataSourceService,
  type PreparedQuery,
  QueryMode,
} from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { isSingleStatement } from "../../domain/data/named-parameters.ts";
import { isToolName } from "../../domain/definitions/definition.ts";
import { MAX_QUERIES, savePreparedQuery as saveRow } from "../../store/prepared-queries.ts";
import { changeWorkspace } from "../change.ts";

const MAX_SQL_CHARACTERS = 65_536;

export const savePreparedQuery: Handler<Context, typeof DataSourceService.method.savePreparedQuery> = async (
  context,
  { query },
  call,
) => {
  const { name, sql, mode } = mustBeQuery(query);
  const stored = { name, sql, mode: mode === QueryMode.WRITE ? ("write" as const) : ("read" as const) };
  await changeWorkspace(context, call, async ({ client, principal: { workspaceId, email }, audit }) => {
    const saved = await saveRow(client, workspaceId, email, stored);
    if (!saved) throw new ConnectError(`at most ${MAX_QUERIES} prepared queries`, Code.ResourceExhausted);
    await audit("query.save", name, ["sql", "mode"]);
  });
  return {};
};

export function mustBeQuery(query: Pick<PreparedQuery, "name" | "sql" | "mode"> | undefined) {
  const { name = "", sql = "", mode = QueryMode.UNSPECIFIED } = query ?? {};
  const violation = violationOf(name, sql, mode);
  if (violation) throw new ConnectError(violation, Code.InvalidArgument);
  return { name, sql, mode };
}

function violationOf(name: string, sql: string, mode: QueryMode): string | undefined {
  if (!isToolName(name)) return "query.name: 1 to 64 letters, digits, underscores and hyphens";
  if (sql.trim() === "") return "query.sql: must not be empty";
  if (sql.length > MAX_SQL_CHARACTERS) return `query.sql: at most ${MAX_SQL_CHARACTERS} characters`;
  if (!isSingleStatement(sql)) return "query.sql: must be one statement";
  return mode in QueryMode ? undefined : "query.mode: must be READ or WRITE";
}
