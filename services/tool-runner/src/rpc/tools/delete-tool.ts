import type { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteTool as deleteRow } from "../../store/tools.ts";
import { deleteByName } from "../change.ts";

export const deleteTool: Handler<Context, typeof ToolService.method.deleteTool> = (context, { name }, call) =>
  deleteByName(context, call, { what: "tool", name, action: "tool.delete", deleteRow });
