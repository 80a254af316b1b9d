import { Code, ConnectError } from "@connectrpc/connect";
import {
  type DataSourceService,
  type PreparedQuery,
  QueryMode,
} from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { CURSOR, MAX_PAGE_BYTES, nextPageToken, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { argumentValues, isSingleStatement, numberParameters } from "../../domain/data/named-parameters.ts";
import { isToolName } from "../../domain/definitions/definition.ts";
import { MAX_DRY_RUN_MS } from "../../execution/dry-run.ts";
import { ToolError } from "../../execution/errors.ts";
import {
  deletePreparedQuery as deleteRow,
  listPreparedQueries as listRows,
  MAX_QUERIES,
  savePreparedQuery as saveRow,
} from "../../store/prepared-queries.ts";
import { changeWorkspace, deleteByName } from "../change.ts";

const MAX_SQL_CHARACTERS = 65_536;

export const preparedQueryHandlers = {
  async savePreparedQuery(context, { query }, call) {
    const { name, sql, mode } = mustBeQuery(query);
    const stored = { name, sql, mode: mode === QueryMode.WRITE ? ("write" as const) : ("read" as const) };
    await changeWorkspace(context, call, async ({ client, principal: { workspaceId, email }, audit }) => {
      const saved = await saveRow(client, workspaceId, email, stored);
      if (!saved) throw new ConnectError(`at most ${MAX_QUERIES} prepared queries`, Code.ResourceExhausted);
      await audit("query.save", name, ["sql", "mode"]);
    });
    return {};
  },

  async listPreparedQueries({ pool }, { pageToken }, call) {
    const after = parsePageToken<{ name: string }>(pageToken, { name: CURSOR.name })?.name ?? "";
    const rows = await listRows(pool, principalOf(call).workspaceId, { after, maxBytes: MAX_PAGE_BYTES });
    const last = rows.at(-1);
    return {
      queries: rows.map(({ name, sql, mode }) => ({
        name,
        sql,
        mode: mode === "write" ? QueryMode.WRITE : QueryMode.READ,
      })),
      nextPageToken: last && !last.isLast ? nextPageToken({ name: last.name }) : "",
    };
  },

  deletePreparedQuery: (context, { name }, call) =>
    deleteByName(context, call, { what: "prepared query", name, action: "query.delete", deleteRow }),

  async dryRunQuery({ dataSources, currentEpoch }, { query, parameters = {} }, call) {
    const { sql, mode } = mustBeQuery(query);
    const { workspaceId } = principalOf(call);
    const { text, names } = numberParameters(sql);
    const values = argumentValues(names, parameters);
    const statement = { text, values, readOnly: mode !== QueryMode.WRITE, keep: false, timeoutMs: MAX_DRY_RUN_MS };
    const startedAt = performance.now();
    const durationMs = () => Math.round(performance.now() - startedAt);
    try {
      const scope = { workspaceId, epoch: await currentEpoch(workspaceId) };
      return { ...(await dataSources.run(scope, statement, call.signal)), durationMs: durationMs() };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { error: error.detail ?? error.message, durationMs: durationMs() };
    }
  },
} satisfies Handlers<Context, typeof DataSourceService>;

function mustBeQuery(query: Pick<PreparedQuery, "name" | "sql" | "mode"> | undefined) {
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
