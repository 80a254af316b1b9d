import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { keptSince } from "../../domain/retention.ts";
import { findKey } from "../../store/keys.ts";
import { listCalls } from "../../store/usage.ts";
import { noSuchKey } from "../errors.ts";

export const listKeyCalls: Handler<Context, typeof KeyService.method.listKeyCalls> = async (context, request, call) => {
  const key = await findKey(context.pool, principalOf(call).workspaceId, request.keyId);
  if (!key) throw noSuchKey();
  const calls = await listCalls(context.pool, key.id, keptSince(context.now()), request.requestId);
  return { calls: calls.map(({ at, ...rest }) => ({ ...rest, at: timestampFromDate(at) })) };
};
