import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { QueryMode, type SavePreparedQueryRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { isToolName } from "../domain/definition.ts";
import { isSingleStatement } from "../domain/named-parameters.ts";
import { MAX_QUERIES, savePreparedQuery as saveQuery } from "../store/prepared-queries.ts";
import { announce } from "./announce.ts";
import { inAuditedTransaction } from "./audit.ts";

const MAX_SQL_CHARACTERS = 65_536;

export async function savePreparedQuery(context: Context, request: SavePreparedQueryRequest, call: HandlerContext) {
  const { workspaceId, email } = principalOf(call);
  const { name = "", sql = "", mode = QueryMode.UNSPECIFIED } = request.query ?? {};
  const fault = faultOf(name, sql, mode);
  if (fault) throw new ConnectError(fault, Code.InvalidArgument);
  // A query that names no mode reads.
  const stored = { name, sql, mode: mode === QueryMode.WRITE ? ("write" as const) : ("read" as const) };
  await inAuditedTransaction(context, call, async (client, _, record) => {
    const saved = await saveQuery(client, workspaceId, email, stored);
    if (!saved) throw new ConnectError(`at most ${MAX_QUERIES} prepared queries`, Code.ResourceExhausted);
    await record("query.save", name, ["sql", "mode"]);
  });
  await announce(context, workspaceId);
  return {};
}

function faultOf(name: string, sql: string, mode: QueryMode): string | undefined {
  if (!isToolName(name)) return "query.name: 1 to 64 letters, digits, underscores and hyphens";
  if (sql.trim() === "") return "query.sql: must not be empty";
  if (sql.length > MAX_SQL_CHARACTERS) return `query.sql: at most ${MAX_SQL_CHARACTERS} characters`;
  if (!isSingleStatement(sql)) return "query.sql: must be one statement";
  return mode in QueryMode ? undefined : "query.mode: must be READ or WRITE";
}
