import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import type { ListToolVersionsRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { listVersions } from "../store/tool-versions.ts";
import { noSuchTool } from "./get-tool.ts";

export async function listToolVersions(context: Context, request: ListToolVersionsRequest, call: HandlerContext) {
  const size = pageSize(request.pageSize);
  const before = Number(parsePageToken<{ version: string }>(request.pageToken, { version: CURSOR.number })?.version);
  const tool = { workspaceId: principalOf(call).workspaceId, name: request.name };
  const rows = await listVersions(context.pool, tool, size + 1, Number.isSafeInteger(before) ? before : undefined);
  if (rows.length === 0 && request.pageToken === "") throw noSuchTool();
  const page = rows.slice(0, size);
  const last = rows.length > size ? page.at(-1) : undefined;
  return {
    versions: page.map(({ savedAt, ...row }) => ({ ...row, savedAt: timestampFromDate(savedAt) })),
    nextPageToken: last ? nextPageToken({ version: String(last.version) }) : "",
  };
}
