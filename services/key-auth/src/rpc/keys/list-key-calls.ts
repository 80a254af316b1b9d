import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { logKeptSince } from "@toolgate/postgres/retention";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { findKey } from "../../store/keys.ts";
import { listCalls, listCallsOfRequest } from "../../store/usage.ts";
import { noSuchKey } from "../errors.ts";

export const listKeyCalls: Handler<Context, typeof KeyService.method.listKeyCalls> = async (
  { pool, now },
  { keyId, requestId },
  call,
) => {
  const { workspaceId } = principalOf(call);
  const since = logKeptSince(now().getTime());
  const isAnyKey = keyId === "" && requestId !== "";
  if (!isAnyKey && !(await findKey(pool, workspaceId, keyId))) throw noSuchKey();
  const ofRequest = { workspaceId, keyId: isAnyKey ? null : keyId, requestId, since };
  const calls = await (requestId === "" ? listCalls(pool, keyId, since) : listCallsOfRequest(pool, ofRequest));
  return { calls: calls.map(({ at, ...rest }) => ({ ...rest, at: timestampOf(at) })) };
};
