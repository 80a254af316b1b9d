import type { CheckToolsRequest } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Context } from "../context.ts";
import { carriesRelease } from "../domain/release.ts";
import { findReleaseFlags } from "../store/tools.ts";

export async function checkTools(context: Context, request: CheckToolsRequest) {
  const rows = await findReleaseFlags(context.pool, request.workspaceId, request.names);
  return { released: rows.filter((row) => carriesRelease(row.flags)).map((row) => row.name) };
}
