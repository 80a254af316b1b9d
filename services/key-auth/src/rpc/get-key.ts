import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { GetKeyRequest } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { findKey } from "../store/keys.ts";
import { keyMessageOf } from "./key-messages.ts";

export async function getKey(context: Context, request: GetKeyRequest, call: HandlerContext) {
  const row = await findKey(context.pool, principalOf(call).workspaceId, request.keyId);
  if (!row) throw noSuchKey();
  return { key: await keyMessageOf(context, row) };
}

export function noSuchKey(): ConnectError {
  return new ConnectError("no such key", Code.NotFound);
}
