import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { SetDataSourceRequest } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { dataSourceContext } from "../execution/data-sources.ts";
import { saveDataSource } from "../store/data-sources.ts";
import { announce } from "./announce.ts";
import { inAuditedTransaction } from "./audit.ts";

export async function setDataSource(context: Context, request: SetDataSourceRequest, call: HandlerContext) {
  const { workspaceId } = principalOf(call);
  const found = await context.findServer(request.url);
  if (!found.ok) throw new ConnectError(`url: ${found.reason}`, Code.InvalidArgument);
  const sealed = context.secretBox.seal(request.url, dataSourceContext(workspaceId));
  await inAuditedTransaction(context, call, async (client, _, record) => {
    await saveDataSource(client, workspaceId, sealed);
    await record("data_source.set", "data source", ["url"]);
  });
  await announce(context, workspaceId);
  return {};
}
