import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { explainRelease } from "@toolgate/api-examples/release";
import { ToolKind, type ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { firstOfHours, timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { carriesRelease } from "../../domain/definitions/release.ts";
import { countFailedByHour, hasReleasedTool } from "../../store/overview.ts";
import { deleteTool, findOutlines, findReleaseFlags, findTool, type ToolRow } from "../../store/tools.ts";
import { deleteByName } from "../change.ts";

const KINDS = { handler: ToolKind.HANDLER, api: ToolKind.API, query: ToolKind.QUERY } as const;

export const toolHandlers = {
  async getTool({ pool }, { name }, call) {
    const row = await findTool(pool, principalOf(call).workspaceId, name);
    if (!row) throw noSuchTool();
    return { tool: toolMessage(row) };
  },

  deleteTool: (context, { name }, call) =>
    deleteByName(context, call, { what: "tool", name, action: "tool.delete", deleteRow: deleteTool }),

  async checkTools({ pool }, { workspaceId, names }) {
    const rows = await findReleaseFlags(pool, workspaceId, names);
    return { released: rows.filter(({ flags }) => carriesRelease(flags)).map(({ name }) => name) };
  },

  async explainRelease({ pool }, { workspaceId, name }) {
    const [row] = await findOutlines(pool, workspaceId, [name], 1, "");
    return row ? { exists: true, ...explainRelease(JSON.parse(row.outlineJson)) } : {};
  },

  async getToolOverview({ pool, now }, _, call) {
    const { workspaceId } = principalOf(call);
    const firstHour = firstOfHours(now());
    return {
      firstHour: timestampOf(firstHour),
      failedRuns: await countFailedByHour(pool, workspaceId, firstHour),
      hasReleasedTool: await hasReleasedTool(pool, workspaceId),
    };
  },
} satisfies Handlers<Context, typeof ToolService>;

export function toolMessage({ kind, definition, savedAt, ...row }: ToolRow) {
  return { ...row, kind: KINDS[kind], definition: definition as JsonObject, savedAt: timestampOf(savedAt) };
}

export function noSuchTool(): ConnectError {
  return new ConnectError("no such tool", Code.NotFound);
}
