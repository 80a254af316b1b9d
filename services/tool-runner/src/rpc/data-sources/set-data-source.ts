import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { dataSourceContext } from "../../execution/data-sources/data-sources.ts";
import { saveDataSource } from "../../store/data-sources.ts";
import { changeWorkspace } from "../change.ts";

export const setDataSource: Handler<Context, typeof DataSourceService.method.setDataSource> = async (
  context,
  { url },
  call,
) => {
  const found = await context.findServer(url, principalOf(call).workspaceId);
  if (!found.ok) throw new ConnectError(`url: ${found.reason}`, Code.InvalidArgument);
  await changeWorkspace(context, call, async ({ client, principal: { workspaceId }, audit }) => {
    await saveDataSource(client, workspaceId, context.secretBox.seal(url, dataSourceContext(workspaceId)));
    await audit("data_source.set", "data source", ["url"]);
  });
  return {};
};
