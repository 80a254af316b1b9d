import { EPOCH_LUA, epochKey } from "@toolgate/epoch/epoch";
import { COUNTER_LUA } from "@toolgate/epoch/minute-window";
import { defineScript } from "@toolgate/epoch/redis";
import type { Redis } from "ioredis";

/** The epochs of a key and of its workspace. */
export interface KeyEpochs {
  key: string;
  workspace: string;
}

type Decision =
  /** The epochs are not the known ones: load the key again. Nothing was counted. */
  | { kind: "stale"; epochs: KeyEpochs }
  | ({ kind: "admitted" } & CountedMinute)
  /** [LIMIT-10] The calls of this minute are used up. Nothing was counted. */
  | ({ kind: "limited" } & CountedMinute);

interface CountedMinute {
  used: number;
  /** [LIMIT-6] Unix time in seconds at which the minute ends. */
  resetAt: number;
}

interface AdmissionRequest {
  keyId: string;
  workspaceId: string;
  /** The epochs under which the key was loaded. If undefined, the decision is `stale` with the current ones. */
  known: KeyEpochs | undefined;
  limit: number;
  /** Count the call if it is admitted, and store its time as the last accepted call. */
  count: boolean;
}

export interface Admission {
  /**
   * Decides in one round trip whether the known epochs are current and whether the minute has room. [LIMIT-2] The minute
   * is that of Redis' clock, so that replicas count in the same minute even if their clocks differ.
   */
  decide(request: AdmissionRequest): Promise<Decision>;
  /** The key's calls counted in the current minute. */
  used(keyId: string): Promise<number>;
  /** When a call was last counted, by Redis' clock. Undefined: never, or Redis was wiped since. */
  lastAccepted(keyId: string): Promise<Date | undefined>;
}

const ADMISSION_LUA = `${EPOCH_LUA}${COUNTER_LUA}
local ACCEPTED_TTL_S = 7776000
local key_epoch, workspace_epoch = epochs_of(KEYS[1], KEYS[2])
if key_epoch ~= ARGV[1] or workspace_epoch ~= ARGV[2] then return {0, key_epoch, workspace_epoch} end
local counter, reset_at = counter_of(KEYS[3])
local used = tonumber(redis.call('get', counter) or '0')
if ARGV[4] == '0' then return {1, used, reset_at} end
if used >= tonumber(ARGV[3]) then return {2, used, reset_at} end
used = count_call(counter)
redis.call('set', KEYS[4], clock_us(), 'ex', ACCEPTED_TTL_S)
return {1, used, reset_at}`;

const USED_LUA = `${COUNTER_LUA}
return tonumber(redis.call('get', (counter_of(KEYS[1]))) or '0')`;

type Reply = [0, string, string] | [1 | 2, number, number];

/** The minute is appended. */
const counterPrefix = (keyId: string) => `toolgate:calls:${keyId}:`;
const acceptedKey = (keyId: string) => `toolgate:accepted:${keyId}`;

export function createRedisAdmission(redis: Redis): Admission {
  const admit = defineScript(redis, { name: "toolgateAdmit", lua: ADMISSION_LUA, keys: 4 });
  return {
    async decide({ keyId, workspaceId, known, limit, count }) {
      const [verdict, first, second] = (await admit(
        [epochKey(`key:${keyId}`), epochKey(`workspace:${workspaceId}`), counterPrefix(keyId), acceptedKey(keyId)],
        [known?.key ?? "", known?.workspace ?? "", limit, count ? 1 : 0],
      )) as Reply;
      if (verdict === 0) return { kind: "stale", epochs: { key: first, workspace: second } };
      return { kind: verdict === 1 ? "admitted" : "limited", used: first, resetAt: second };
    },
    async used(keyId) {
      return Number(await redis.eval(USED_LUA, 1, counterPrefix(keyId)));
    },
    async lastAccepted(keyId) {
      const microseconds = await redis.get(acceptedKey(keyId));
      return microseconds === null ? undefined : new Date(Number(microseconds) / 1000);
    },
  };
}
