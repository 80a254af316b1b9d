import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { listSecrets as listRows } from "../../store/secrets.ts";

export const listSecrets: Handler<Context, typeof DataSourceService.method.listSecrets> = async ({ pool }, _, call) => {
  const rows = await listRows(pool, principalOf(call).workspaceId);
  return { secrets: rows.map(({ savedAt, ...row }) => ({ ...row, savedAt: timestampOf(savedAt) })) };
};
