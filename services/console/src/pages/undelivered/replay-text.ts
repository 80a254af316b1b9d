import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Replay, type ReplayRange, ReplaySelection } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { localTime } from "../../ui/time.tsx";

type Range = Pick<ReplayRange, "types" | "selection"> & { from?: Timestamp; to?: Timestamp };

/** "12 undelivered events", with the sign that there may be more. */
export function countText(events: number, more: boolean, { selection }: Pick<Range, "selection">): string {
  const kind = selection === ReplaySelection.ALL ? "" : "undelivered ";
  return `${more ? "at least " : ""}${events.toLocaleString("en")} ${kind}event${events === 1 && !more ? "" : "s"}`;
}

/** What a range selects, beside its count. */
export function rangeText({ from, to, types }: Range): string {
  const which = types.length === 0 ? "of all types" : `of type ${types.join(", ")}`;
  const begin = from ? ` from ${localTime(timestampDate(from))}` : "";
  return `${which}${begin}${to ? ` up to ${localTime(timestampDate(to))}` : ""}`;
}

/** How far a replay is. */
export function progressText(replay: Replay): string {
  const { sent, delivered, failed, outstanding, skipped, cancelled, eventsAtStart, moreAtStart } = replay;
  const parts = [
    `${sent.toLocaleString("en")} of ${moreAtStart ? "at least " : ""}${eventsAtStart.toLocaleString("en")} sent`,
    `${delivered.toLocaleString("en")} delivered`,
    ...[
      [failed, "failed"],
      [outstanding, "under way"],
      [cancelled, "cancelled"],
      [skipped, "left out"],
    ]
      .filter(([count]) => count !== 0)
      .map(([count, word]) => `${count?.toLocaleString("en")} ${word}`),
  ];
  return parts.join(" · ");
}
