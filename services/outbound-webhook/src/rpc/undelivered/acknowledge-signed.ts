import type { SignedPullService } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import { AcknowledgeUndeliveredRequestSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { acknowledgeUndelivered } from "./acknowledge-undelivered.ts";
import { inTurn } from "./in-turn.ts";
import { openSigned } from "./signed-request.ts";

export const acknowledgeSigned: Handler<Context, typeof SignedPullService.method.acknowledgeSigned> = async (
  context,
  { request },
  call,
) => {
  const opened = await openSigned(context, AcknowledgeUndeliveredRequestSchema, request, call);
  return inTurn(context, call, async () => {
    const response = await acknowledgeUndelivered(context, opened, call);
    return { response: { response }, bytes: request?.body.length ?? 0 };
  });
};
