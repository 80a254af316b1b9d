import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import type { Pool } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import { findEndpoint } from "../store/endpoint.ts";
import { previewReplay as preview } from "../store/replay/preview.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";
import { MAX_EVENTS_COUNTED, rangeOf, rateOf, secondsFor } from "./replay-message.ts";

export function previewReplay(deps: {
  pool: Pool;
  now: () => Date;
}): ServiceImpl<typeof ReplayService>["previewReplay"] {
  const { pool, now } = deps;
  return async (request, context) => {
    const key = endpointKey(principalOf(context), request.endpointId);
    const range = rangeOf(request.range, now());
    const rate = rateOf(request.ratePerSecond);
    if (!(await findEndpoint(pool, key))) throw noSuchEndpoint();
    const found = await preview(pool, key.endpointId, range, MAX_EVENTS_COUNTED);
    const { events, more, types, oldest, newest } = found;
    return {
      events,
      more,
      types,
      ...(oldest && { oldest: timestampFromDate(oldest) }),
      ...(newest && { newest: timestampFromDate(newest) }),
      estimatedSeconds: secondsFor(events, rate),
    };
  };
}
