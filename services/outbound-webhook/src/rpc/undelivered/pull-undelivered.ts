import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { Handler } from "@toolgate/service-host/handler";
import { CURSOR, nextPageToken, pageSize, parsePageToken } from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { pulledHeaders } from "../../domain/delivery-headers.ts";
import { sealingContext } from "../../domain/endpoint.ts";
import { findSecret } from "../../store/endpoint.ts";
import { findPullPlace, type PullPlace, pullUndelivered as pullRows } from "../../store/undelivered/pull.ts";
import { endpointKey, invalidArgument, noSuchEndpoint } from "../request-fields.ts";
import { REASON } from "./undelivered-message.ts";

/** Encoding more would keep the event loop, and with it other workspaces, waiting. */
const MAX_BODY_BYTES_PER_PULL = 256 * 1024;
const HISTORY = /^[0-9a-f]{32}$/;

export const pullUndelivered: Handler<Context, typeof UndeliveredService.method.pullUndelivered> = async (
  context,
  request,
  call,
) => {
  const { pool, secretBox } = context;
  const key = endpointKey(principalOf(call), request.endpointId);
  const limit = pageSize(request.pageSize);
  const sealed = await findSecret(pool, key);
  if (!sealed) throw noSuchEndpoint();
  const requested = placeOf(secretBox, request.cursor, key.endpointId);
  const secret = secretBox.open(sealed.secret, sealingContext(key.endpointId));
  const now = context.now();
  const { after, history } = await findPullPlace(pool, requested);
  const { rows, more } = await pullRows(pool, key.endpointId, { after, limit, maxBytes: MAX_BODY_BYTES_PER_PULL });
  const nextAfter = rows.at(-1)?.position ?? after;
  return {
    events: rows.map((row) => ({
      eventId: row.eventId,
      eventType: row.eventType,
      body: row.body.toString("utf8"),
      headers: pulledHeaders({ ...row, secret, now }),
      eventAt: timestampFromDate(row.eventAt),
      reason: REASON[row.reason],
    })),
    nextCursor: isSamePlace(requested, { after: nextAfter, history })
      ? request.cursor
      : cursorOf(secretBox, { after: nextAfter, history }, key.endpointId),
    more,
  };
};

function isSamePlace(requested: PullPlace | undefined, place: PullPlace): boolean {
  return requested?.after === place.after && requested.history === place.history;
}

/** Sealed, because positions are numbered over all workspaces. */
function cursorOf(secretBox: SecretBox, { after, history }: PullPlace, endpointId: number): string {
  if (after === 0) return "";
  return secretBox
    .seal(nextPageToken({ after: String(after), history }), cursorContext(endpointId))
    .toString("base64url");
}

function placeOf(secretBox: SecretBox, cursor: string, endpointId: number): PullPlace | undefined {
  const members = { after: CURSOR.number, history: HISTORY };
  const place = parsePageToken<{ after: string; history: string }>(opened(secretBox, cursor, endpointId), members);
  return place && { after: Number(place.after), history: place.history };
}

function opened(secretBox: SecretBox, cursor: string, endpointId: number): string {
  if (cursor === "") return "";
  try {
    return secretBox.open(Buffer.from(cursor, "base64url"), cursorContext(endpointId));
  } catch {
    throw invalidArgument("cursor: not one of this endpoint");
  }
}

function cursorContext(endpointId: number): string {
  return `pull-cursor:${endpointId}`;
}
