import type { Redis } from "ioredis";
import { EPOCH_LUA, epochKey } from "./epoch.ts";
import { minuteWindow, SECONDS_PER_MINUTE } from "./minute-window.ts";
import { defineScript } from "./redis.ts";

/** The epochs of a row and of its workspace. */
export interface RowEpochs {
  own: string;
  workspace: string;
}

/** A call, counted if the minute had room. [LIMIT-10] [IN-29] Otherwise nothing was counted. */
export interface CountedCall {
  admitted: boolean;
  used: number;
  /** [LIMIT-6] Unix time in seconds at which the minute ends. */
  resetAt: number;
}

interface CallToCount {
  id: string;
  workspaceId: string;
  /** The epochs under which the row was loaded. If undefined, only the current ones are returned. */
  known: RowEpochs | undefined;
  /** Calls per minute. */
  limit: number;
  /** False only compares epochs and reads the count. */
  count: boolean;
}

/** Counts calls per clock minute of Redis' clock, so that replicas count in the same minute even if their clocks differ. */
export interface CallCounter {
  /**
   * Compares epochs and counts the call, in one round trip. Resolves with the current epochs if the known ones are others:
   * then load the row again; nothing was counted.
   */
  count(call: CallToCount): Promise<CountedCall | RowEpochs>;
  /** The calls counted in the current minute. */
  used(id: string): Promise<number>;
  /** When a call was last counted, by Redis' clock. Undefined: never, Redis was wiped since, or without `lastKey`. */
  lastCounted(id: string): Promise<Date | undefined>;
}

interface CallCounterOptions {
  /** The scope of epochs is "<kind>:<id>". */
  kind: string;
  /** Begins the name of the counters in Redis. */
  counters: string;
  /** Begins the name of where the time of the last counted call is kept. */
  lastKey?: string;
}

const COUNTER_LUA = `
local COUNTER_TTL_S = 120
local minute = math.floor(tonumber(redis.call('time')[1]) / ${SECONDS_PER_MINUTE})
local counter, reset_at = KEYS[1] .. string.format('%d', minute), (minute + 1) * ${SECONDS_PER_MINUTE}
local used = tonumber(redis.call('get', counter) or '0')
`;

const COUNT_LUA = `${EPOCH_LUA}
local LAST_TTL_S = 7776000
local own_epoch, workspace_epoch = epochs_of(KEYS[2], KEYS[3])
if own_epoch ~= ARGV[1] or workspace_epoch ~= ARGV[2] then return {0, own_epoch, workspace_epoch} end
${COUNTER_LUA}
if ARGV[4] == '0' then return {1, used, reset_at} end
if used >= tonumber(ARGV[3]) then return {2, used, reset_at} end
used = redis.call('incr', counter)
if used == 1 then redis.call('expire', counter, COUNTER_TTL_S) end
if ARGV[5] ~= '' then redis.call('set', ARGV[5], clock_us(), 'ex', LAST_TTL_S) end
return {1, used, reset_at}`;

type Reply = [0, string, string] | [1 | 2, number, number];

/** Counts in Redis. */
export function createCallCounter(redis: Redis, { kind, counters, lastKey }: CallCounterOptions): CallCounter {
  const run = defineScript(redis, { name: `toolgateCount:${kind}`, lua: COUNT_LUA, keys: 3 });
  const lastOf = (id: string) => (lastKey === undefined ? "" : `${lastKey}:${id}`);
  return {
    async count({ id, workspaceId, known, limit, count }) {
      const keys = [`${counters}:${id}:`, epochKey(`${kind}:${id}`), epochKey(`workspace:${workspaceId}`)];
      const values = [known?.own ?? "", known?.workspace ?? "", limit, count ? 1 : 0, lastOf(id)];
      const [verdict, first, second] = (await run(keys, values)) as Reply;
      if (verdict === 0) return { own: first, workspace: second };
      return { admitted: verdict === 1, used: first, resetAt: second };
    },
    async used(id) {
      return Number(await redis.eval(`${COUNTER_LUA} return used`, 1, `${counters}:${id}:`));
    },
    async lastCounted(id) {
      const microseconds = lastKey === undefined ? null : await redis.get(lastOf(id));
      return microseconds === null ? undefined : new Date(Number(microseconds) / 1000);
    },
  };
}

/** Counts in this process alone, while Redis is down. */
export function createLocalCounter(now: () => number): (id: string, limit: number, count: boolean) => CountedCall {
  let currentMinute = 0;
  let counts = new Map<string, number>();
  return (id, limit, count) => {
    const { minute, resetAt } = minuteWindow(now());
    if (minute !== currentMinute) {
      currentMinute = minute;
      counts = new Map();
    }
    const used = counts.get(id) ?? 0;
    if (!count) return { admitted: true, used, resetAt };
    if (used >= limit) return { admitted: false, used, resetAt };
    counts.set(id, used + 1);
    return { admitted: true, used: used + 1, resetAt };
  };
}
