import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteVariable as deleteRow } from "../../store/variables.ts";
import { deleteByName } from "../change.ts";

export const deleteVariable: Handler<Context, typeof DataSourceService.method.deleteVariable> = (
  context,
  { name },
  call,
) => deleteByName(context, call, { what: "variable", name, action: "variable.delete", deleteRow });
