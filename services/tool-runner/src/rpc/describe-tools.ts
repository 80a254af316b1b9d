import { Code, ConnectError } from "@connectrpc/connect";
import type { DescribeToolsRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Context } from "../context.ts";
import { describe } from "../domain/description.ts";
import { carriesRelease } from "../domain/release.ts";
import { findOutlines } from "../store/tools.ts";

const MAX_NAMES = 1_000;

/** [OAPI-3] Read from the database each time, so it is newer than every epoch that the caller knows of. */
export async function describeTools(context: Context, request: DescribeToolsRequest) {
  if (request.names.length > MAX_NAMES) {
    throw new ConnectError(`names: at most ${MAX_NAMES}`, Code.InvalidArgument);
  }
  const rows = await findOutlines(context.pool, request.workspaceId, request.names);
  const tools = rows
    .filter((row) => carriesRelease(row.outline))
    .map(({ name, version, outline, body }) => ({ name, version, ...describe(outline, body) }));
  return { tools };
}
