import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import { countText, dayText, hourText, OVERVIEW, startText } from "../../text/en/overview.ts";
import { Part } from "../../ui/page/part.tsx";
import styles from "./overview.module.css";

const HOUR_MS = 3_600_000;
/** So that one among a thousand is seen. */
const LEAST_PERCENT = 6;

interface DayChartProps {
  title: string;
  firstHour: Timestamp | undefined;
  /** Of each of the 24 hours; undefined when their service does not answer. */
  counts: readonly number[] | undefined;
  /** Counting ends there. */
  maxCount?: number;
  /** What an hour opens, and where. Without it, nothing. */
  log?: string;
  to?: string;
  search?: Record<string, string>;
  tone?: "bad";
}

/** A bar for each of 24 hours. One with something in it leads to the log of that hour, if there is one. */
export function DayChart(props: DayChartProps) {
  const { title, log, firstHour, counts, maxCount = Number.POSITIVE_INFINITY, to, search, tone } = props;
  if (!counts || !firstHour) {
    return (
      <Part title={title}>
        <p className={styles.dimText}>{OVERVIEW.notAvailable}</p>
      </Part>
    );
  }
  const highest = Math.max(1, ...counts);
  const text = (count: number) => countText(count, count >= maxCount);
  const isMore = counts.some((count) => count >= maxCount);
  const sum = counts.reduce((all, count) => all + count, 0);
  return (
    <Part title={title}>
      <ol className={styles.hours} aria-label={`${title} by hour`} data-tone={tone}>
        {counts.map((count, hour) => {
          const start = new Date(timestampMs(firstHour) + hour * HOUR_MS);
          const name = hourText(start, title, text(count));
          const range = { from: start.toISOString(), to: new Date(start.getTime() + HOUR_MS).toISOString() };
          const bar = (
            <span className={styles.bar} style={{ height: `${Math.max(LEAST_PERCENT, (count / highest) * 100)}%` }} />
          );
          return (
            <li key={range.from} title={name}>
              {count > 0 && to && (
                <Link to={to} search={{ ...search, ...range }} aria-label={`${name}. ${log}`}>
                  {bar}
                </Link>
              )}
              {count > 0 && !to && (
                <span role="img" aria-label={name}>
                  {bar}
                </span>
              )}
            </li>
          );
        })}
      </ol>
      <p className={styles.axis}>
        <span>{startText(new Date(timestampMs(firstHour)))}</span>
        <span>{dayText(countText(sum, isMore))}</span>
        <span>{OVERVIEW.now}</span>
      </p>
    </Part>
  );
}
