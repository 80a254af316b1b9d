import { type Timestamp, timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import styles from "./hourly-bars.module.css";

const HOURS = 24;
const HOUR_MS = 3_600_000;
const BAR = 3;
const HEIGHT = 20;
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** What happened in an hour, as the services count it. */
export interface HourlyCount {
  hour?: Timestamp | undefined;
  count: bigint;
  errors: bigint;
  p50Ms: number;
  p99Ms: number;
}

interface HourlyBarsProps {
  /** "Calls of Acme by hour" */
  label: string;
  firstHour: Timestamp;
  /** Hours without anything may be left out. */
  counts: readonly HourlyCount[];
  /** The highest number to which an hour is counted; undefined when all are exact. */
  maxCount?: number | undefined;
}

/** The last 24 hours: a bar for each, as high as its count, with the errors at its foot. */
export function HourlyBars({ label, firstHour, counts, maxCount = Number.POSITIVE_INFINITY }: HourlyBarsProps) {
  const highest = Math.max(1, ...counts.map(({ count }) => Number(count)));
  const heightOf = (count: bigint) => (count === 0n ? 0 : Math.max(1.5, (Number(count) / highest) * HEIGHT));
  return (
    <svg
      className={styles.bars}
      width={HOURS * BAR}
      height={HEIGHT}
      viewBox={`0 0 ${HOURS * BAR} ${HEIGHT}`}
      role="img"
      aria-label={`${label}: ${sumOf(counts, maxCount)}`}
    >
      <rect className={styles.ground} x={0} y={HEIGHT - 1} width={HOURS * BAR} height={1} />
      {counts.map((count) => {
        const place = placeOf(count, firstHour);
        const [all, bad] = [heightOf(count.count), heightOf(count.errors)];
        return (
          <g key={place}>
            <title>{sentenceOf(count, maxCount)}</title>
            {/* The whole height of the hour has the tooltip. */}
            <rect className={styles.hour} x={place * BAR} y={0} width={BAR} height={HEIGHT} />
            <rect className={styles.count} x={place * BAR} y={HEIGHT - all} width={BAR - 1} height={all} />
            <rect className={styles.errors} x={place * BAR} y={HEIGHT - bad} width={BAR - 1} height={bad} />
          </g>
        );
      })}
    </svg>
  );
}

/** What a reader who does not see the bars needs of them; a table in each row of a list would bury the list. */
function sumOf(counts: readonly HourlyCount[], maxCount: number): string {
  let [all, bad] = [0n, 0n];
  for (const { count, errors } of counts) [all, bad] = [all + count, bad + errors];
  const orMore = counts.some(({ count }) => count >= maxCount) ? " or more" : "";
  return `${all.toLocaleString("en")}${orMore}, ${bad.toLocaleString("en")} failed`;
}

/** 0 for the first hour. */
function placeOf({ hour }: HourlyCount, firstHour: Timestamp): number {
  return hour ? Math.round((timestampMs(hour) - timestampMs(firstHour)) / HOUR_MS) : 0;
}

function sentenceOf({ hour, count, errors, p50Ms, p99Ms }: HourlyCount, maxCount: number): string {
  const from = hour ? CLOCK.format(timestampDate(hour)) : "";
  const orMore = count >= maxCount ? " or more" : "";
  return `From ${from}: ${count.toLocaleString("en")}${orMore}, ${errors.toLocaleString("en")} failed; half within ${p50Ms} ms, 99 of 100 within ${p99Ms} ms`;
}
