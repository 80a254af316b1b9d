import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import {
  CURSOR,
  MAX_PAGE_BYTES,
  nextPageToken,
  pageSize,
  parsePageToken,
  readPage,
} from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { type ListedTool, listTools as listRows } from "../../store/tools.ts";
import { toolMessage } from "./tool-message.ts";

/** A definition takes several times as long to encode as other text of its size: each of its values is a message. */
const MAX_BYTES = MAX_PAGE_BYTES / 4;

export const listTools: Handler<Context, typeof ToolService.method.listTools> = async ({ pool }, request, call) => {
  const size = pageSize(request.pageSize);
  const after = parsePageToken<{ name: string }>(request.pageToken, { name: CURSOR.name });
  const { workspaceId } = principalOf(call);
  const { page, last } = await readPage<ListedTool>({
    size,
    maxBytes: MAX_BYTES,
    sizeOf: ({ definitionJson }) => definitionJson.length,
    read: (limit, row) => listRows(pool, workspaceId, limit, (row ?? after)?.name ?? ""),
  });
  const tools = page.map(({ definitionJson, ...row }) =>
    toolMessage({ ...row, definition: JSON.parse(definitionJson) }),
  );
  return { tools, nextPageToken: last ? nextPageToken({ name: last.name }) : "" };
};
