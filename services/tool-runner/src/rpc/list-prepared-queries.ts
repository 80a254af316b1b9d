import type { HandlerContext } from "@connectrpc/connect";
import { QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { listPreparedQueries as listQueries } from "../store/prepared-queries.ts";

export async function listPreparedQueries(context: Context, call: HandlerContext) {
  const rows = await listQueries(context.pool, principalOf(call).workspaceId);
  return {
    queries: rows.map(({ name, sql, mode }) => ({
      name,
      sql,
      mode: mode === "write" ? QueryMode.WRITE : QueryMode.READ,
    })),
  };
}
