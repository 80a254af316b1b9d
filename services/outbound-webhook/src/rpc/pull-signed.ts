import type { ServiceImpl } from "@connectrpc/connect";
import type { SignedPullService } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import {
  PullUndeliveredRequestSchema,
  type UndeliveredService,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { openSigned, type SignedRequestDependencies } from "./signed-request.ts";

export function pullSigned(
  deps: SignedRequestDependencies,
  pull: ServiceImpl<typeof UndeliveredService>["pullUndelivered"],
): ServiceImpl<typeof SignedPullService>["pullSigned"] {
  return async ({ request }, context) => {
    const opened = await openSigned(deps, PullUndeliveredRequestSchema, request, context);
    return { response: await pull(opened, context) };
  };
}
