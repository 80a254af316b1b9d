const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+ -]\d{2}(?::?\d{2})?)?)?$/i;
const MINUTE_MS = 60_000;

/**
 * [CHAT-18] A timestamp in ISO 8601; undefined for anything else. Without an offset it is in UTC. A space counts
 * as a plus sign, because a query turns one into the other.
 */
export function parseInstant(text: string): Date | undefined {
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] =
    INSTANT.exec(text.trim()) ?? [];
  if (year === undefined || Number(year) === 0) return undefined;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, "0").slice(0, 3)}Z`;
  const time = Date.parse(local);
  // Date reads 30 February as 2 March.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(`${year}-${month}-${day}`)) return undefined;
  const offset = offsetMinutes(zone);
  return offset === undefined ? undefined : new Date(time - offset * MINUTE_MS);
}

function offsetMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === "Z") return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  const total = hours * 60 + (zone.length > 3 ? minutes : 0);
  if (hours > 23 || (zone.length > 3 && minutes > 59)) return undefined;
  return zone.startsWith("-") ? -total : total;
}
