import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { findVersion, listVersions } from "../../store/tool-versions.ts";
import { changeWorkspace } from "../change.ts";
import { mustBeValid, saveVersion } from "./save-version.ts";
import { noSuchTool, toolMessage } from "./tools.ts";

export const versionHandlers = {
  async listToolVersions({ pool }, { name, pageSize: requestedSize, pageToken }, call) {
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
  },

  async getToolVersion({ pool }, { name, version }, call) {
    const row = await findVersion(pool, { workspaceId: principalOf(call).workspaceId, name }, version);
    if (!row) throw noSuchTool();
    return { tool: toolMessage(row) };
  },

  async restoreToolVersion(context, { name, version, confirmExposure }, call) {
    const row = await changeWorkspace(context, call, async (change) => {
      const { workspaceId } = change.principal;
      const old = await findVersion(change.client, { workspaceId, name }, version);
      if (!old) throw noSuchTool();
      await mustBeValid(context.compiler, workspaceId, old.definition);
      return saveVersion(change, { name, definition: old.definition, restored: true, confirmExposure });
    });
    return { tool: toolMessage(row) };
  },
} satisfies Handlers<Context, typeof ToolService>;
