import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { logKeptSince } from "@toolgate/postgres/retention";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { findKey } from "../../store/keys.ts";
import { listCalls } from "../../store/usage.ts";
import { noSuchKey } from "../errors.ts";

export const listKeyCalls: Handler<Context, typeof KeyService.method.listKeyCalls> = async (context, request, call) => {
  const key = await findKey(context.pool, principalOf(call).workspaceId, request.keyId);
  if (!key) throw noSuchKey();
  const calls = await listCalls(context.pool, key.id, logKeptSince(context.now().getTime()), request.requestId);
  return { calls: calls.map(({ at, ...rest }) => ({ ...rest, at: timestampOf(at) })) };
};
