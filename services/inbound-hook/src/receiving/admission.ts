import { EPOCH_LUA, epochKey } from "@toolgate/epoch/epoch";
import { COUNTER_LUA, SECONDS_PER_MINUTE } from "@toolgate/epoch/minute-window";
import { createScriptBatches } from "@toolgate/epoch/script-batches";
import type { Redis } from "ioredis";
import { epochScope } from "../domain/hook.ts";

/** The epochs of a hook and of its workspace. */
export interface HookEpochs {
  hook: string;
  workspace: string;
}

type Decision =
  /** The epochs are not the known ones: load the hook again. Nothing was counted. */
  | { kind: "stale"; epochs: HookEpochs }
  | { kind: "admitted" }
  /** [IN-29] The minute is used up. Nothing was counted. */
  | { kind: "limited"; retryAfterSeconds: number };

interface AdmissionRequest {
  hookId: number;
  workspaceId: string;
  /** The epochs under which the hook was loaded. If undefined, the decision is `stale` and contains the current epochs. */
  known: HookEpochs | undefined;
  limit: number;
  /** Count the call if the minute has room. */
  count: boolean;
}

export interface Admission {
  /**
   * Decides in one round trip whether the known epochs are current and whether the minute has room. The minute is that
   * of Redis' clock, so that replicas count in the same one.
   */
  decide(request: AdmissionRequest): Promise<Decision>;
}

const ADMISSION_LUA = `${EPOCH_LUA}${COUNTER_LUA}
local function decide(key, value)
  local hook_epoch, workspace_epoch = epochs_of(KEYS[key + 1], KEYS[key + 2])
  if hook_epoch ~= ARGV[value + 1] or workspace_epoch ~= ARGV[value + 2] then return {0, hook_epoch, workspace_epoch} end
  if ARGV[value + 4] == '0' then return {1} end
  local counter = counter_of(KEYS[key + 3])
  if tonumber(redis.call('get', counter) or '0') >= tonumber(ARGV[value + 3]) then
    return {2, ${SECONDS_PER_MINUTE} - redis.call('time')[1] % ${SECONDS_PER_MINUTE}}
  end
  count_call(counter)
  return {1}
end`;

type Reply = [0, string, string] | [1] | [2, number];

export function createRedisAdmission(redis: Redis): Admission {
  const admit = createScriptBatches(redis, {
    name: "toolgateAdmitHook",
    lua: ADMISSION_LUA,
    keysPerRequest: 3,
    valuesPerRequest: 4,
  });
  return {
    async decide({ hookId, workspaceId, known, limit, count }) {
      const reply = (await admit(
        [epochKey(epochScope(hookId)), epochKey(`workspace:${workspaceId}`), `toolgate:hook-calls:${hookId}:`],
        [known?.hook ?? "", known?.workspace ?? "", limit, count ? 1 : 0],
      )) as Reply;
      if (reply[0] === 0) return { kind: "stale", epochs: { hook: reply[1], workspace: reply[2] } };
      return reply[0] === 1 ? { kind: "admitted" } : { kind: "limited", retryAfterSeconds: reply[1] };
    },
  };
}
