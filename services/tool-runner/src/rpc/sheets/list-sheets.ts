import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listSheets as listRows } from "../../store/sheets.ts";

export const listSheets: Handler<Context, typeof DataSourceService.method.listSheets> = async ({ pool }, _, call) => ({
  names: await listRows(pool, principalOf(call).workspaceId),
});
