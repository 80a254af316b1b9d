import type { HandlerContext } from "@connectrpc/connect";
import type { ListToolsRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { listTools as listToolRows } from "../store/tools.ts";
import { toolMessage } from "./tool-message.ts";

export async function listTools(context: Context, request: ListToolsRequest, call: HandlerContext) {
  const size = pageSize(request.pageSize);
  const after = parsePageToken<{ name: string }>(request.pageToken, { name: CURSOR.name });
  const rows = await listToolRows(context.pool, principalOf(call).workspaceId, size + 1, after?.name ?? "");
  const page = rows.slice(0, size);
  const last = rows.length > size ? page.at(-1) : undefined;
  return { tools: page.map(toolMessage), nextPageToken: last ? nextPageToken({ name: last.name }) : "" };
}
