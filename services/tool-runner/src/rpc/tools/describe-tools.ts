import { Code, ConnectError } from "@connectrpc/connect";
import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { callerOf } from "@toolgate/service-host/identity/caller";
import type { Context } from "../../context.ts";
import { describe, describeForModels } from "../../domain/definitions/description.ts";
import { carriesRelease } from "../../domain/definitions/release.ts";
import { SHARED_TOOLS } from "../../domain/definitions/shared-tools.ts";
import { findOutlines } from "../../store/tools.ts";
import { apiDescriptionOf } from "../api-description/get-api-description.ts";
import { assertDescribes } from "../signed-texts.ts";

const MAX_NAMES = 1_000;

/** [OAPI-3] Always reads the database, so the response is at least as new as any epoch that the caller has. */
export const describeTools: Handler<Context, typeof ToolService.method.describeTools> = async (
  context,
  request,
  call,
) => {
  const { pool } = context;
  const { workspaceId, names } = request;
  if (callerOf(call) === "gateway") await assertDescribes(context, request);
  if (names.length > MAX_NAMES) throw new ConnectError(`names: at most ${MAX_NAMES}`, Code.InvalidArgument);
  const rows = await findOutlines(pool, workspaceId, names);
  if (request.forAssistant) {
    const shared = Object.entries(SHARED_TOOLS).filter(([name]) => names.includes(name));
    return {
      tools: [
        ...rows.map(({ name, version, outline }) => ({ name, version, ...describeForModels(outline) })),
        ...shared.map(([name, tool]) => ({ name, ...describeForModels(tool) })),
      ],
    };
  }
  const tools = rows
    .filter((row) => carriesRelease(row.outline))
    .map(({ name, version, outline, body }) => ({ name, version, ...describe(outline, body) }));
  return { tools, about: await apiDescriptionOf(pool, workspaceId) };
};
