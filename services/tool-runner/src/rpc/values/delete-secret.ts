import type { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteSecret as deleteRow } from "../../store/secrets.ts";
import { deleteByName } from "../change.ts";

export const deleteSecret: Handler<Context, typeof DataSourceService.method.deleteSecret> = (context, { name }, call) =>
  deleteByName(context, call, { what: "secret", name, action: "secret.delete", deleteRow });
