import { create, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type ApiDescription,
  ApiDescriptionSchema,
  type ToolService,
} from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Pool } from "@toolgate/postgres/pool";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { apiDescriptionViolation } from "../../domain/definitions/api-description.ts";
import { findApiDescription, saveApiDescription } from "../../store/api-descriptions.ts";
import { changeWorkspace } from "../change.ts";

export const apiDescriptionHandlers = {
  async getApiDescription({ pool }, _, call) {
    return { about: await apiDescriptionOf(pool, principalOf(call).workspaceId) };
  },

  async setApiDescription(context, { about = create(ApiDescriptionSchema) }, call) {
    const violation = apiDescriptionViolation(about);
    if (violation) throw new ConnectError(violation, Code.InvalidArgument);
    const fields = toJson(ApiDescriptionSchema, about) as Record<string, unknown>;
    await changeWorkspace(context, call, async ({ client, principal: { workspaceId, email }, audit }) => {
      await saveApiDescription(client, workspaceId, email, fields);
      await audit("api_description.set", "", Object.keys(fields));
    });
    return {};
  },
} satisfies Handlers<Context, typeof ToolService>;

export async function apiDescriptionOf(pool: Pool, workspaceId: string): Promise<ApiDescription> {
  const about = (await findApiDescription(pool, workspaceId)) ?? {};
  return fromJson(ApiDescriptionSchema, about as JsonValue, { ignoreUnknownFields: true });
}
