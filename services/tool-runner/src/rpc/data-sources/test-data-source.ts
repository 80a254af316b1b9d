import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { dataSourceContext } from "../../execution/data-sources/data-sources.ts";
import { testConnection } from "../../execution/data-sources/test-connection.ts";
import { findDataSource } from "../../store/data-sources.ts";

export const testDataSource: Handler<Context, typeof DataSourceService.method.testDataSource> = async (
  { pool, secretBox, findServer },
  { url },
  call,
) => {
  const { workspaceId } = principalOf(call);
  const stored = url === "" ? await findDataSource(pool, workspaceId) : undefined;
  if (url === "" && !stored) throw new ConnectError("the workspace has no data source", Code.FailedPrecondition);
  const tested = stored ? secretBox.open(stored.sealedUrl, dataSourceContext(workspaceId)) : url;
  const found = await findServer(tested, workspaceId);
  if (!found.ok) return { error: found.reason };
  return testConnection(found.server, call.signal);
};
