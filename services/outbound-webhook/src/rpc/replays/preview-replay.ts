import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { previewReplay as preview } from "../../store/replay/preview.ts";
import { endpointKey, requireEndpoint } from "../request-fields.ts";
import { MAX_EVENTS_COUNTED, rangeOf, rateOf, secondsFor } from "./replay-message.ts";

export const previewReplay: Handler<Context, typeof ReplayService.method.previewReplay> = async (
  { pool, now },
  request,
  call,
) => {
  const key = endpointKey(principalOf(call), request.endpointId);
  const range = rangeOf(request.range, now());
  const rate = rateOf(request.ratePerSecond);
  await requireEndpoint(pool, key);
  const { oldest, newest, ...counted } = await preview(pool, key.endpointId, range, MAX_EVENTS_COUNTED);
  return {
    ...counted,
    ...(oldest && { oldest: timestampOf(oldest) }),
    ...(newest && { newest: timestampOf(newest) }),
    estimatedSeconds: secondsFor(counted.events, rate),
  };
};
