import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { listVariables as listRows } from "../../store/variables.ts";

export const listVariables: Handler<Context, typeof DataSourceService.method.listVariables> = async (
  { pool },
  _,
  call,
) => ({ variables: await listRows(pool, principalOf(call).workspaceId) });
