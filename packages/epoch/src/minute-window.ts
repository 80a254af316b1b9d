export const SECONDS_PER_MINUTE = 60;

/**
 * Lua to prepend to scripts that count calls per clock minute of Redis: `counter_of(prefix)` returns the key of the
 * current minute's counter, which only Redis knows, and the Unix time in seconds at which the minute ends.
 */
export const COUNTER_LUA = `
local COUNTER_TTL_S = 120
local minute = math.floor(tonumber(redis.call('time')[1]) / ${SECONDS_PER_MINUTE})
local function counter_of(prefix)
  return prefix .. string.format('%d', minute), (minute + 1) * ${SECONDS_PER_MINUTE}
end
local function count_call(counter)
  local used = redis.call('incr', counter)
  if used == 1 then redis.call('expire', counter, COUNTER_TTL_S) end
  return used
end
`;

/** [LIMIT-2] A clock minute, from second :00 to :59 in UTC. */
interface MinuteWindow {
  /** Minutes since 1970. */
  minute: number;
  /** [LIMIT-6] Unix time in seconds at which the window ends. */
  resetAt: number;
}

/** The minute of a time in milliseconds since 1970. */
export function minuteWindow(nowMs: number): MinuteWindow {
  const minute = Math.floor(nowMs / 1000 / SECONDS_PER_MINUTE);
  return { minute, resetAt: (minute + 1) * SECONDS_PER_MINUTE };
}

/** Seconds until a Unix time in seconds, rounded up: at least 1. */
export function secondsUntil(resetAt: number, nowMs: number): number {
  return Math.max(1, Math.ceil(resetAt - nowMs / 1000));
}
