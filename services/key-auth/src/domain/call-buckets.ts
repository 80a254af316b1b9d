const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Counts calls since a time: in the log up to the next full minute, then by counts per minute and per hour. */
export interface CountPlan {
  /** Log rows after this time … */
  logAfter: Date;
  /** … and before this one; minutes that start from here on … */
  minutesFrom: Date;
  /** … and before this one; hours that start from here on. */
  hoursFrom: Date;
}

export function countPlan(since: Date): CountPlan {
  const minutesFrom = (Math.floor(since.getTime() / MINUTE_MS) + 1) * MINUTE_MS;
  const hoursFrom = Math.ceil(minutesFrom / HOUR_MS) * HOUR_MS;
  return { logAfter: since, minutesFrom: new Date(minutesFrom), hoursFrom: new Date(hoursFrom) };
}
