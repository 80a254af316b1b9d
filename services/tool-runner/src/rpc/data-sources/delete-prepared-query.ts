import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deletePreparedQuery as deleteRow } from "../../store/prepared-queries.ts";
import { deleteByName } from "../change.ts";

export const deletePreparedQuery: Handler<Context, typeof DataSourceService.method.deletePreparedQuery> = (
  context,
  { name },
  call,
) => deleteByName(context, call, { what: "prepared query", name, action: "query.delete", deleteRow });
