import { Code, ConnectError } from "@connectrpc/connect";
import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { parseDataSourceUrl } from "../../domain/data/data-source-url.ts";
import { dataSourceContext } from "../../execution/data-sources/data-sources.ts";
import { testConnection } from "../../execution/data-sources/test-connection.ts";
import { findDataSource, saveDataSource } from "../../store/data-sources.ts";
import { changeWorkspace } from "../change.ts";

export const dataSourceHandlers = {
  async setDataSource(context, { url }, call) {
    const found = await context.findServer(url, principalOf(call).workspaceId);
    if (!found.ok) throw new ConnectError(`url: ${found.reason}`, Code.InvalidArgument);
    await changeWorkspace(context, call, async ({ client, principal: { workspaceId }, audit }) => {
      await saveDataSource(client, workspaceId, context.secretBox.seal(url, dataSourceContext(workspaceId)));
      await audit("data_source.set", "data source", ["url"]);
    });
    return {};
  },

  async getDataSource(context, _, call) {
    const stored = await storedSource(context, principalOf(call).workspaceId);
    const source = stored && parseDataSourceUrl(stored.url);
    if (!source) return {};
    const { host, port, database, user } = source;
    return { source: { host, port, database, user, savedAt: timestampOf(stored.savedAt) } };
  },

  async testDataSource(context, { url }, call) {
    const { workspaceId } = principalOf(call);
    const tested = url || (await storedSource(context, workspaceId))?.url;
    if (!tested) throw new ConnectError("the workspace has no data source", Code.FailedPrecondition);
    const found = await context.findServer(tested, workspaceId);
    if (!found.ok) return { error: found.reason };
    return testConnection(found.server, call.signal);
  },
} satisfies Handlers<Context, typeof DataSourceService>;

async function storedSource({ pool, secretBox }: Context, workspaceId: string) {
  const stored = await findDataSource(pool, workspaceId);
  if (!stored) return undefined;
  return { url: secretBox.open(stored.sealedUrl, dataSourceContext(workspaceId)), savedAt: stored.savedAt };
}
