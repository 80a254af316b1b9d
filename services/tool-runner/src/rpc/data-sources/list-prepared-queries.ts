import { type DataSourceService, QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listPreparedQueries as listRows } from "../../store/prepared-queries.ts";

export const listPreparedQueries: Handler<Context, typeof DataSourceService.method.listPreparedQueries> = async (
  { pool },
  _,
  call,
) => {
  const rows = await listRows(pool, principalOf(call).workspaceId);
  return {
    queries: rows.map((row) => ({ ...row, mode: row.mode === "write" ? QueryMode.WRITE : QueryMode.READ })),
  };
};
