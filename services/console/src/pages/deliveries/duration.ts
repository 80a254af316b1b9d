const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** How long something took: "812 ms", "2.5 s", "10 s". */
export function tookText(ms: number): string {
  if (ms < SECOND_MS) return `${ms} ms`;
  return `${Number((ms / SECOND_MS).toFixed(1)).toLocaleString("en")} s`;
}

/** How long something lasts or is away: "20 s", "4 min", "11 h 50 min". */
export function spanText(ms: number): string {
  const left = Math.max(0, ms);
  const seconds = Math.ceil(left / SECOND_MS);
  if (seconds < MINUTE_MS / SECOND_MS) return `${seconds} s`;
  const minutes = Math.round(left / MINUTE_MS);
  const hours = Math.floor((minutes * MINUTE_MS) / HOUR_MS);
  if (hours === 0) return `${minutes} min`;
  const rest = minutes % (HOUR_MS / MINUTE_MS);
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}
