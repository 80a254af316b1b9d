import type { Redis } from "ioredis";

/**
 * Epochs keep caches current. Redis has one number for each scope ("key:<id>", "workspace:<id>"). A writer commits to
 * Postgres, raises the epoch, and only then responds. A cache notes the epoch it read before loading a row, and loads
 * the row again once Redis has a newer one.
 *
 * An epoch is a time in microseconds by Redis' clock. So it still grows after Redis has been wiped: a missing epoch is
 * created again, newer than any before.
 */
export interface Epochs {
  /** Raises the scopes. Rejects when Redis does not respond in time; other replicas may not know of the change yet. */
  raise(...scopes: string[]): Promise<void>;
  /** The epoch of a scope, created if it is missing. Rejects when Redis does not respond in time. */
  current(scope: string): Promise<bigint>;
}

const RAISE_AGAIN_MS = 1_000;

/**
 * Raises a scope after a commit whose response must not be lost: if that fails, again every second until Redis has it.
 * Resolves after the first try, and never rejects.
 */
export async function raiseWithRetries(epochs: Pick<Epochs, "raise">, scope: string): Promise<void> {
  await epochs.raise(scope).catch(() => {
    setTimeout(() => void raiseWithRetries(epochs, scope), RAISE_AGAIN_MS).unref();
  });
}

/** The Redis key of a scope's epoch. */
export function epochKey(scope: string): string {
  return `toolgate:epoch:${scope}`;
}

/**
 * Lua to prepend to scripts that read epochs: `epoch_of(key)` returns the epoch as text and creates a missing one, and
 * `epochs_of(key, key)` does so for two, with one command.
 * Epochs expire 30 days after they were last raised; creating one again costs each cache one reload.
 */
export const EPOCH_LUA = `
local EPOCH_TTL_S = 2592000
local function clock_us() local t = redis.call('time'); return string.format('%d%06d', t[1], t[2]) end
local function epoch_of(key)
  local epoch = redis.call('get', key)
  if not epoch then epoch = clock_us(); redis.call('set', key, epoch, 'ex', EPOCH_TTL_S) end
  return epoch
end
local function epochs_of(first, second)
  local epochs = redis.call('mget', first, second)
  return epochs[1] or epoch_of(first), epochs[2] or epoch_of(second)
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

const CURRENT_LUA = `${EPOCH_LUA}
return epoch_of(KEYS[1])`;

/**
 * Epochs in Redis. A raise that rejects may still have happened. It waits as long as the connection's command timeout:
 * use a connection from `connectRedis`.
 */
export function createEpochs(redis: Redis): Epochs {
  return {
    async raise(...scopes) {
      if (scopes.length === 0) return;
      await redis.eval(RAISE_LUA, scopes.length, ...scopes.map(epochKey));
    },
    async current(scope) {
      return BigInt(String(await redis.eval(CURRENT_LUA, 1, epochKey(scope))));
    },
  };
}
