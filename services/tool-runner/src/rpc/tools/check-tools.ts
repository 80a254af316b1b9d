import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { carriesRelease } from "../../domain/definitions/release.ts";
import { findReleaseFlags } from "../../store/tools.ts";

export const checkTools: Handler<Context, typeof ToolService.method.checkTools> = async ({ pool }, request) => {
  const rows = await findReleaseFlags(pool, request.workspaceId, request.names);
  return { released: rows.filter((row) => carriesRelease(row.flags)).map((row) => row.name) };
};
