import { refusals } from "@toolgate/telemetry/instruments";
import type { Redis } from "ioredis";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";

/** Failures are forgotten after this time. The time starts again when a maximum is exceeded. */
export const LOCKOUT_S = 15 * 60;

/** Failures after which logins are refused, by what they are counted for. */
export const MAX_FAILURES = {
  /** A known device, or a session that changes its password, on one account. */
  device: 10,
  /** One network on one account. */
  pair: 10,
  /** One account, from all networks. */
  account: 100,
  /** One network, on all accounts. */
  network: 100,
} as const;

/** What an attempt counts for, and under which name. */
export type Counted = Partial<Record<keyof typeof MAX_FAILURES, string>>;

/**
 * Limits the guessing of passwords. Every attempt first counts as a failure, so that attempts at the same time get no more
 * guesses than the maximum; a success removes that failure. Counted in Redis; while it is down, in this process.
 */
export interface LoginThrottle {
  /** Counts an attempt. Returns the seconds to wait if it is refused, and then counts nothing. */
  begin(counted: Counted): Promise<number | undefined>;
  /** Takes an attempt out that succeeded, or could not be decided. After a success, the device or pair begins at 0. */
  end(counted: Counted, hasSucceeded: boolean): Promise<void>;
}

export function createLoginThrottle(redis: Redis): LoginThrottle {
  const limiters = new Map<string, RateLimiterRedis>();
  for (const [kind, points] of Object.entries(MAX_FAILURES)) {
    const limits = { points, duration: LOCKOUT_S, blockDuration: LOCKOUT_S, keyPrefix: `toolgate:login:${kind}` };
    limiters.set(
      kind,
      new RateLimiterRedis({
        ...limits,
        storeClient: redis,
        rejectIfRedisNotReady: true,
        insuranceLimiter: new RateLimiterMemory(limits),
      }),
    );
  }
  const eachOf = (counted: Counted) =>
    Object.entries(counted).flatMap(([kind, name]) => {
      const limiter = limiters.get(kind);
      return limiter && name !== undefined ? [{ kind, name, limiter }] : [];
    });
  return {
    async begin(counted) {
      const begun: ReturnType<typeof eachOf> = [];
      for (const one of eachOf(counted)) {
        try {
          await one.limiter.consume(one.name);
          begun.push(one);
        } catch (refusal) {
          if (!(refusal instanceof RateLimiterRes)) throw refusal;
          await Promise.all(begun.map(({ limiter, name }) => limiter.reward(name)));
          refusals.add(1, { limiter: "sign-ins" });
          return Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
        }
      }
      return undefined;
    },
    async end(counted, hasSucceeded) {
      await Promise.all(
        eachOf(counted).map(async ({ kind, name, limiter }) => {
          const startsAgain = hasSucceeded && (kind === "device" || kind === "pair");
          await (startsAgain ? limiter.delete(name) : limiter.reward(name));
        }),
      );
    },
  };
}
