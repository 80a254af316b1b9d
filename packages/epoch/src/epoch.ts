import type { Redis } from "ioredis";

/**
 * Epochs: one number per scope ("key:<id>", "workspace:<id>") in Redis that says how new cached knowledge about the
 * scope must be. Whoever changes the truth in Postgres raises the epoch after the commit and answers only then; whoever
 * caches keeps the epoch that stood in Redis before the load, and loads again when a newer one stands there.
 *
 * Epochs are microseconds of Redis' clock, so they grow also over a wipe of Redis: a missing epoch is made anew and is
 * newer than any before.
 */
export interface Epochs {
  /** Raises the scopes. Rejects when Redis does not answer in time: then the change is not known everywhere yet. */
  raise(...scopes: string[]): Promise<void>;
}

/** The Redis key of a scope's epoch. */
export function epochKey(scope: string): string {
  return `toolgate:epoch:${scope}`;
}

/**
 * Lua to prepend to scripts that read epochs: `epoch_of(key)` returns it as text, making it when it is missing.
 * Epochs live 30 days after their last raise; one that expired is made anew, which costs one reload.
 */
export const EPOCH_LUA = `
local EPOCH_TTL_S = 2592000
local function clock_us() local t = redis.call('time'); return string.format('%d%06d', t[1], t[2]) end
local function epoch_of(key)
  local epoch = redis.call('get', key)
  if not epoch then epoch = clock_us(); redis.call('set', key, epoch, 'ex', EPOCH_TTL_S) end
  return epoch
end
local function raise_epoch(key)
  local now, old = clock_us(), redis.call('get', key)
  if old and tonumber(old) >= tonumber(now) then now = string.format('%.0f', tonumber(old) + 1) end
  redis.call('set', key, now, 'ex', EPOCH_TTL_S)
end
`;

const RAISE_LUA = `${EPOCH_LUA}
for i = 1, #KEYS do raise_epoch(KEYS[i]) end
return #KEYS`;

/**
 * Epochs in Redis. A raise whose answer did not come may have happened all the same. How long a raise waits is the
 * connection's command timeout: use one of `connectRedis`.
 */
export function createEpochs(redis: Redis): Epochs {
  return {
    async raise(...scopes) {
      if (scopes.length === 0) return;
      await redis.eval(RAISE_LUA, scopes.length, ...scopes.map(epochKey));
    },
  };
}
