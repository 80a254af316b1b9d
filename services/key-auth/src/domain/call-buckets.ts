const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * How to count the calls since a time: the log rows up to the next full minute, then the counts per minute up to the
 * next full hour, then the counts per hour.
 */
export interface CountPlan {
  /** Start of the log rows, exclusive; they end before `minutesFrom`. */
  logAfter: Date;
  /** Start of the first minute; the minutes end at `hoursFrom`. */
  minutesFrom: Date;
  /** Start of the first hour. */
  hoursFrom: Date;
}

export function countPlan(since: Date): CountPlan {
  const minutesFrom = (Math.floor(since.getTime() / MINUTE_MS) + 1) * MINUTE_MS;
  const hoursFrom = Math.ceil(minutesFrom / HOUR_MS) * HOUR_MS;
  return { logAfter: since, minutesFrom: new Date(minutesFrom), hoursFrom: new Date(hoursFrom) };
}
