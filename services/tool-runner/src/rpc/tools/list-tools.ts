import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listTools as listRows } from "../../store/tools.ts";
import { toolMessage } from "./tool-message.ts";

export const listTools: Handler<Context, typeof ToolService.method.listTools> = async ({ pool }, request, call) => {
  const size = pageSize(request.pageSize);
  const after = parsePageToken<{ name: string }>(request.pageToken, { name: CURSOR.name });
  const rows = await listRows(pool, principalOf(call).workspaceId, size + 1, after?.name ?? "");
  const page = rows.slice(0, size);
  const last = rows.length > size ? page.at(-1) : undefined;
  return { tools: page.map(toolMessage), nextPageToken: last ? nextPageToken({ name: last.name }) : "" };
};
