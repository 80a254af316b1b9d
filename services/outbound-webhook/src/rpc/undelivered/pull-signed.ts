import type { SignedPullService } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import { PullUndeliveredRequestSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { inTurn } from "./in-turn.ts";
import { pullUndelivered } from "./pull-undelivered.ts";
import { openSigned } from "./signed-request.ts";

export const pullSigned: Handler<Context, typeof SignedPullService.method.pullSigned> = async (
  context,
  { request },
  call,
) => {
  const opened = await openSigned(context, PullUndeliveredRequestSchema, request, call);
  return inTurn(context, call, async () => {
    const response = await pullUndelivered(context, opened, call);
    const bytes = (response.events ?? []).reduce((sum, { body = "" }) => sum + Buffer.byteLength(body), 0);
    return { response: { response }, bytes };
  });
};
