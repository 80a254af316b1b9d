import type { ServiceImpl } from "@connectrpc/connect";
import type { SignedPullService } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import {
  AcknowledgeUndeliveredRequestSchema,
  type UndeliveredService,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { openSigned, type SignedRequestDependencies } from "./signed-request.ts";

export function acknowledgeSigned(
  deps: SignedRequestDependencies,
  acknowledge: ServiceImpl<typeof UndeliveredService>["acknowledgeUndelivered"],
): ServiceImpl<typeof SignedPullService>["acknowledgeSigned"] {
  return async ({ request }, context) => {
    const opened = await openSigned(deps, AcknowledgeUndeliveredRequestSchema, request, context);
    return { response: await acknowledge(opened, context) };
  };
}
