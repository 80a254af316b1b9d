const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** How calls since an instant are counted: from the log up to the next full minute, then from counts of minutes and hours. */
export interface CountPlan {
  /** Rows of the log after this instant … */
  logAfter: Date;
  /** … and before this one; minutes that start from here … */
  minutesFrom: Date;
  /** … and before this one; hours that start from here. */
  hoursFrom: Date;
}

export function countPlan(since: Date): CountPlan {
  const minutesFrom = (Math.floor(since.getTime() / MINUTE_MS) + 1) * MINUTE_MS;
  const hoursFrom = Math.ceil(minutesFrom / HOUR_MS) * HOUR_MS;
  return { logAfter: since, minutesFrom: new Date(minutesFrom), hoursFrom: new Date(hoursFrom) };
}
