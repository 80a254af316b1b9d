import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { parseDataSourceUrl } from "../../domain/data/data-source-url.ts";
import { dataSourceContext } from "../../execution/data-sources/data-sources.ts";
import { findDataSource } from "../../store/data-sources.ts";

export const getDataSource: Handler<Context, typeof DataSourceService.method.getDataSource> = async (
  { pool, secretBox },
  _,
  call,
) => {
  const { workspaceId } = principalOf(call);
  const stored = await findDataSource(pool, workspaceId);
  const source = stored && parseDataSourceUrl(secretBox.open(stored.sealedUrl, dataSourceContext(workspaceId)));
  if (!source) return {};
  const { host, port, database, user } = source;
  return {
    source: { host, port, database: database ?? "", user: user ?? "", savedAt: timestampFromDate(stored.savedAt) },
  };
};
