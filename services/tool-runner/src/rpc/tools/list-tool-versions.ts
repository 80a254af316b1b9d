import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { listVersions } from "../../store/tool-versions.ts";
import { noSuchTool } from "./tool-message.ts";

export const listToolVersions: Handler<Context, typeof ToolService.method.listToolVersions> = async (
  { pool },
  { name, pageSize: requestedSize, pageToken },
  call,
) => {
  const size = pageSize(requestedSize);
  const cursor = parsePageToken<{ version: string }>(pageToken, { version: CURSOR.int4 });
  const tool = { workspaceId: principalOf(call).workspaceId, name };
  const rows = await listVersions(pool, tool, size + 1, cursor && Number(cursor.version));
  if (rows.length === 0 && pageToken === "") throw noSuchTool();
  const page = rows.slice(0, size);
  const last = rows.length > size ? page.at(-1) : undefined;
  return {
    versions: page.map(({ savedAt, ...row }) => ({ ...row, savedAt: timestampOf(savedAt) })),
    nextPageToken: last ? nextPageToken({ version: String(last.version) }) : "",
  };
};
