import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useNow } from "./clock.ts";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;
const LOCAL = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function relativeTime(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  // The page's clock ticks every 5 s, so what has just happened may seem to be ahead of it.
  if (seconds > 0 && seconds <= 5) return "now";
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return "now";
}

/** In the reader's zone. */
export function localTime(at: Date): string {
  return LOCAL.format(at);
}

/** How long ago, or the time itself in the reader's zone; the tooltip has both it and UTC. */
export function Time({
  at,
  exact = false,
  never = "never",
}: {
  at: Timestamp | undefined;
  exact?: boolean;
  never?: string;
}) {
  const now = useNow();
  if (!at) return <span>{never}</span>;
  const date = timestampDate(at);
  const utc = date.toISOString();
  return (
    <time dateTime={utc} title={`${localTime(date)} (${ZONE})\n${utc.slice(0, 19).replace("T", " ")} UTC`}>
      {exact ? localTime(date) : relativeTime(date.getTime(), now)}
    </time>
  );
}
