import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type ReplayRange as ReplayRangeMessage,
  type ReplayRangeSchema,
  type ReplaySchema,
  ReplaySelection,
  ReplayState,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { requestTime, timestampOf } from "@toolgate/service-host/time";
import { typesViolation } from "../../domain/endpoint.ts";
import type { ReplayRange } from "../../store/replay/preview.ts";
import type { ReplayKey, ReplayRow } from "../../store/replay/replay.ts";
import { idOf, invalidArgument, refuseIf } from "../request-fields.ts";

const DEFAULT_RATE_PER_SECOND = 10;
const MAX_RATE_PER_SECOND = 100;

const STATE: Record<ReplayRow["state"], ReplayState> = {
  running: ReplayState.RUNNING,
  paused: ReplayState.PAUSED,
  done: ReplayState.DONE,
  cancelled: ReplayState.CANCELLED,
};

export function rangeOf(message: ReplayRangeMessage | undefined, now: Date): ReplayRange {
  const from = requestTime("range.from", message?.from);
  if (!message || !from) throw invalidArgument("range.from: missing");
  const types = [...new Set(message.types)];
  refuseIf(typesViolation(types));
  if (ReplaySelection[message.selection] === undefined) throw invalidArgument("range.selection: not a known value");
  const end = requestTime("range.to", message.to) ?? now;
  const to = end > now ? now : end;
  if (from >= to) throw invalidArgument("range: must end after it begins");
  return {
    from,
    to,
    types: types.length > 0 ? types : undefined,
    everything: message.selection === ReplaySelection.ALL,
  };
}

export function rateOf(requested: number): number {
  if (requested <= MAX_RATE_PER_SECOND) return requested === 0 ? DEFAULT_RATE_PER_SECOND : requested;
  throw invalidArgument(`rate_per_second: from 1 to ${MAX_RATE_PER_SECOND}`);
}

export function toReplay(row: ReplayRow, now: Date): MessageInitShape<typeof ReplaySchema> {
  const { id, endpointId, range, state, own, position, startedAt, finishedAt, ...rest } = row;
  const estimatedEnd = estimatedEndOf(row, now);
  // Those that have ended since the last step are not counted in the row yet.
  const ownWith = (...statuses: (string | null)[]) => own.filter(({ status }) => statuses.includes(status)).length;
  return {
    ...rest,
    id: BigInt(id),
    endpointId: BigInt(endpointId),
    range: toRange(range),
    state: STATE[state],
    delivered: row.delivered + ownWith("delivered"),
    failed: row.failed + ownWith("failed"),
    cancelled: row.cancelled + ownWith("cancelled", null),
    outstanding: ownWith("pending", "retrying"),
    position: timestampOf(position),
    startedAt: timestampOf(startedAt),
    ...(estimatedEnd && { estimatedEnd: timestampOf(estimatedEnd) }),
    ...(finishedAt && { finishedAt: timestampOf(finishedAt) }),
  };
}

function toRange({ from, to, types, everything }: ReplayRange): MessageInitShape<typeof ReplayRangeSchema> {
  return {
    from: timestampOf(from),
    to: timestampOf(to),
    types: [...(types ?? [])],
    selection: everything ? ReplaySelection.ALL : ReplaySelection.UNDELIVERED,
  };
}

function estimatedEndOf(row: ReplayRow, now: Date): Date | undefined {
  if (row.state !== "running" || row.moreAtStart) return undefined;
  const left = row.walked ? 0 : Math.max(0, row.eventsAtStart - row.considered);
  return new Date(now.getTime() + secondsFor(left, row.ratePerSecond) * 1_000);
}

/** How long sending this many events takes at this rate. */
export function secondsFor(events: number, ratePerSecond: number): number {
  return Math.ceil(events / ratePerSecond);
}

/** An impossible id gets the same response as one of another workspace. */
export function replayKey({ workspaceId }: { workspaceId: string }, id: bigint): ReplayKey {
  return { workspaceId, replayId: idOf(id, noSuchReplay) };
}

export function noSuchReplay(): ConnectError {
  return new ConnectError("no such replay", Code.NotFound);
}
