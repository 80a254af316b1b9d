import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import {
  type ApiDescription,
  ApiDescriptionSchema,
  type ToolService,
} from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Pool } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { findApiDescription } from "../../store/api-descriptions.ts";

export const getApiDescription: Handler<Context, typeof ToolService.method.getApiDescription> = async (
  { pool },
  _,
  call,
) => ({ about: await apiDescriptionOf(pool, principalOf(call).workspaceId) });

export async function apiDescriptionOf(pool: Pool, workspaceId: string): Promise<ApiDescription> {
  const about = (await findApiDescription(pool, workspaceId)) ?? {};
  return fromJson(ApiDescriptionSchema, about as JsonValue, { ignoreUnknownFields: true });
}
