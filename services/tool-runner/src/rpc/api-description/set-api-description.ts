import { create, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ApiDescriptionSchema, type ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { apiDescriptionViolation } from "../../domain/definitions/api-description.ts";
import { saveApiDescription } from "../../store/api-descriptions.ts";
import { changeWorkspace } from "../change.ts";

export const setApiDescription: Handler<Context, typeof ToolService.method.setApiDescription> = async (
  context,
  { about = create(ApiDescriptionSchema) },
  call,
) => {
  const violation = apiDescriptionViolation(about);
  if (violation) throw new ConnectError(violation, Code.InvalidArgument);
  const fields = toJson(ApiDescriptionSchema, about) as Record<string, unknown>;
  await changeWorkspace(context, call, async ({ client, principal: { workspaceId, email }, audit }) => {
    await saveApiDescription(client, workspaceId, email, fields);
    await audit("api_description.set", "", Object.keys(fields));
  });
  return {};
};
