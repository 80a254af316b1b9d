import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { findKey } from "../../store/keys.ts";
import { noSuchKey } from "../errors.ts";
import { keyMessage, readFacts } from "./key-message.ts";

export const getKey: Handler<Context, typeof KeyService.method.getKey> = async (context, { keyId }, call) => {
  const { workspaceId } = principalOf(call);
  const row = await findKey(context.pool, workspaceId, keyId);
  if (!row) throw noSuchKey();
  return { key: keyMessage(row, await readFacts(context, workspaceId, [row]), context.now()) };
};
