import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import { pulledHeaders } from "../domain/pulled-headers.ts";
import { sealingContext } from "../domain/sealing-context.ts";
import { findSecret } from "../store/endpoint.ts";
import { findPullPlace, type PullPlace, pullUndelivered as pullRows } from "../store/undelivered/pull.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";
import { REASON } from "./undelivered-message.ts";

/** A message between services has 4 MB at most; the rest is for headers and frames. */
const MAX_BODY_BYTES_PER_PULL = 3_750 * 1024;
const HISTORY = /^[0-9a-f]{32}$/;

export function pullUndelivered(deps: {
  pool: Pool;
  secretBox: Pick<SecretBox, "open">;
  now: () => Date;
}): ServiceImpl<typeof UndeliveredService>["pullUndelivered"] {
  const { pool, secretBox } = deps;
  return async (request, context) => {
    const key = endpointKey(principalOf(context), request.endpointId);
    const limit = pageSize(request.pageSize);
    const asked = placeOf(request.cursor);
    const sealed = await findSecret(pool, key);
    if (!sealed) throw noSuchEndpoint();
    const secret = secretBox.open(sealed.secret, sealingContext(key.endpointId));
    const now = deps.now();
    const { after, history } = await findPullPlace(pool, asked);
    const { rows, more } = await pullRows(pool, key.endpointId, { after, limit, maxBytes: MAX_BODY_BYTES_PER_PULL });
    const last = rows.at(-1);
    return {
      events: rows.map((row) => ({
        eventId: row.eventId,
        eventType: row.eventType,
        body: row.body.toString("utf8"),
        headers: pulledHeaders({ ...row, secret, now }),
        eventAt: timestampFromDate(row.eventAt),
        reason: REASON[row.reason],
      })),
      nextCursor: cursorBehind(last?.position ?? after, history),
      more,
    };
  };
}

function placeOf(cursor: string): PullPlace | undefined {
  const members = { after: CURSOR.number, history: HISTORY };
  const place = parsePageToken<{ after: string; history: string }>(cursor, members);
  return place && { after: Number(place.after), history: place.history };
}

function cursorBehind(after: number, history: string): string {
  return after === 0 ? "" : nextPageToken({ after: String(after), history });
}
