import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { logKeptSince } from "@toolgate/postgres/retention";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { findKey } from "../../store/keys.ts";
import { listCalls, listCallsOfRequest } from "../../store/usage.ts";
import { noSuchKey } from "../errors.ts";

export const listKeyCalls: Handler<Context, typeof KeyService.method.listKeyCalls> = async (context, request, call) => {
  const { keyId, requestId } = request;
  const { workspaceId } = principalOf(call);
  const since = logKeptSince(context.now().getTime());
  const isAnyKey = keyId === "" && requestId !== "";
  const calls = isAnyKey
    ? await listCallsOfRequest(context.pool, { workspaceId, requestId, since })
    : await listCalls(context.pool, await idOfKey(context, workspaceId, keyId), since, requestId);
  return { calls: calls.map(({ at, ...rest }) => ({ ...rest, at: timestampOf(at) })) };
};

async function idOfKey({ pool }: Context, workspaceId: string, keyId: string): Promise<string> {
  const key = await findKey(pool, workspaceId, keyId);
  if (!key) throw noSuchKey();
  return key.id;
}
