import { growingCache } from "@toolgate/growing-cache/growing-cache";
import { refusals } from "@toolgate/telemetry/instruments";
import type { Redis } from "ioredis";

/** Failures of one network, or one known device, on one account after which it has to wait, and no other. */
export const MAX_FAILURES_OF_NETWORK = 10;
/** Failures from all networks, after which an account has to wait. */
export const MAX_ACCOUNT_FAILURES = 100;
/** Failures on all accounts, after which a network has to wait. */
export const MAX_ADDRESS_FAILURES = 100;
/** Failures are forgotten after this time. The time starts again when the maximum is reached. */
export const LOCKOUT_S = 15 * 60;
const KNOWN_S = 30 * 24 * 3_600;

export type Attempt = { kind: "allowed" } | { kind: "refused"; retryAfterS: number };

/** A counter of failures, such as that of an account, and its maximum. */
export interface Counted {
  name: string;
  maxFailures: number;
}

/**
 * Limits the guessing of passwords. Every attempt first counts as a failure, so that attempts at the same time get no more
 * guesses than the maximum; a success removes that failure.
 */
export interface LoginThrottle {
  begin(counted: readonly Counted[]): Promise<Attempt>;
  /** Sets the first counter to 0 and takes this attempt out of the others. */
  succeeded(counted: readonly Counted[]): Promise<void>;
  /** Takes this attempt, which could not be decided, out of all counters. */
  withdraw(counted: readonly Counted[]): Promise<void>;
  /** Whether a pair of account and network was remembered in the last 30 days. */
  isKnown(pair: string): Promise<boolean>;
  remember(pair: string): Promise<void>;
}

const BEGIN_LUA = `
for i = 1, #KEYS do
  if tonumber(redis.call('get', KEYS[i]) or '0') >= tonumber(ARGV[i + 1]) then
    return math.max(1, redis.call('ttl', KEYS[i]))
  end
end
for i = 1, #KEYS do
  local failures = redis.call('incr', KEYS[i])
  if failures == 1 or failures >= tonumber(ARGV[i + 1]) then redis.call('expire', KEYS[i], ARGV[1]) end
end
return 0`;

/** The first key to decrement is the argument; the keys before it are deleted. */
const TAKE_OUT_LUA = `
local first = tonumber(ARGV[1])
for i = 1, first - 1 do redis.call('del', KEYS[i]) end
for i = first, #KEYS do
  if tonumber(redis.call('get', KEYS[i]) or '0') > 0 then redis.call('decr', KEYS[i]) end
end
return 0`;

const knownKey = (pair: string) => `toolgate:login:known:${pair}`;

/** Exact over all replicas. */
export function createRedisThrottle(redis: Redis): LoginThrottle {
  const keys = (counted: readonly Counted[]) => counted.map(({ name }) => `toolgate:login:${name}`);
  return {
    async begin(counted) {
      const limits = counted.map(({ maxFailures }) => maxFailures);
      const wait = Number(await redis.eval(BEGIN_LUA, counted.length, ...keys(counted), LOCKOUT_S, ...limits));
      return wait === 0 ? { kind: "allowed" } : { kind: "refused", retryAfterS: wait };
    },
    async succeeded(counted) {
      await redis.eval(TAKE_OUT_LUA, counted.length, ...keys(counted), 2);
    },
    async withdraw(counted) {
      await redis.eval(TAKE_OUT_LUA, counted.length, ...keys(counted), 1);
    },
    async isKnown(pair) {
      return (await redis.get(knownKey(pair))) !== null;
    },
    async remember(pair) {
      await redis.set(knownKey(pair), "1", "EX", KNOWN_S);
    },
  };
}

const MAX_COUNTED = 100_000;

/** Counts in this process alone. */
export function createLocalThrottle(now: () => number): LoginThrottle {
  const failures = growingCache<string, { count: number; until: number }>(MAX_COUNTED);
  const known = growingCache<string, true>(MAX_COUNTED);
  const current = (name: string) => {
    const entry = failures.get(name);
    return entry && entry.until > now() ? entry : { count: 0, until: now() + LOCKOUT_S * 1000 };
  };
  const takeOut = (counted: readonly Counted[]) => {
    for (const { name } of counted) {
      const { count, until } = current(name);
      if (count > 0) failures.set(name, { count: count - 1, until });
    }
  };
  return {
    async begin(counted) {
      const full = counted.find(({ name, maxFailures }) => current(name).count >= maxFailures);
      if (full) return { kind: "refused", retryAfterS: Math.ceil((current(full.name).until - now()) / 1000) };
      for (const { name, maxFailures } of counted) {
        const { count, until } = current(name);
        const reached = count + 1 >= maxFailures;
        failures.set(name, { count: count + 1, until: reached ? now() + LOCKOUT_S * 1000 : until });
      }
      return { kind: "allowed" };
    },
    async succeeded([first, ...others]) {
      if (first) failures.delete(first.name);
      takeOut(others);
    },
    async withdraw(counted) {
      takeOut(counted);
    },
    async isKnown(pair) {
      return known.has(pair);
    },
    async remember(pair) {
      known.set(pair, true);
    },
  };
}

/** Uses `second` while `first` fails. */
export function withFallback(
  first: LoginThrottle,
  second: LoginThrottle,
  onError: (error: unknown) => void,
): LoginThrottle {
  const useEither = async <T>(work: (throttle: LoginThrottle) => Promise<T>): Promise<T> => {
    try {
      return await work(first);
    } catch (error) {
      onError(error);
      return work(second);
    }
  };
  return {
    async begin(counted) {
      const attempt = await useEither((throttle) => throttle.begin(counted));
      if (attempt.kind === "refused") refusals.add(1, { limiter: "sign-ins" });
      return attempt;
    },
    succeeded: (counted) => useEither((throttle) => throttle.succeeded(counted)),
    withdraw: (counted) => useEither((throttle) => throttle.withdraw(counted)),
    isKnown: (pair) => useEither((throttle) => throttle.isKnown(pair)),
    remember: (pair) => useEither((throttle) => throttle.remember(pair)),
  };
}
