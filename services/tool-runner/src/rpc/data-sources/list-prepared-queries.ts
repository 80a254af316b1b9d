import { type DataSourceService, QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, MAX_PAGE_BYTES, nextPageToken, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listPreparedQueries as listRows } from "../../store/prepared-queries.ts";

export const listPreparedQueries: Handler<Context, typeof DataSourceService.method.listPreparedQueries> = async (
  { pool },
  { pageToken },
  call,
) => {
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
};
