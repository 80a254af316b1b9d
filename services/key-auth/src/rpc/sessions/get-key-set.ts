import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";

export const getKeySet: Handler<Context, typeof SessionService.method.getKeySet> = async (context) => {
  return { jwksJson: JSON.stringify(await context.tokens.keySet()) };
};
