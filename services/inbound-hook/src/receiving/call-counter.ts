import { EPOCH_LUA, epochKey } from "@toolgate/epoch/epoch";
import { COUNTER_LUA, SECONDS_PER_MINUTE } from "@toolgate/epoch/minute-window";
import { defineScript } from "@toolgate/epoch/redis";
import type { Redis } from "ioredis";
import { epochScope } from "../domain/hook.ts";

/** The epochs of a hook and of its workspace. */
export interface HookEpochs {
  hook: string;
  workspace: string;
}

type Counted =
  /** The epochs are not the known ones: load the hook again. Nothing was counted. */
  | { kind: "stale"; epochs: HookEpochs }
  | { kind: "counted" }
  /** [IN-29] The minute is used up. Nothing was counted. */
  | { kind: "limited"; retryAfterSeconds: number };

interface CountRequest {
  hookId: number;
  workspaceId: string;
  /** The epochs under which the hook was loaded. If undefined, the result is `stale` and contains the current epochs. */
  known: HookEpochs | undefined;
  limit: number;
  /** False for a refused call, which only compares epochs. */
  count: boolean;
}

/**
 * Compares epochs and counts the call, in one round trip. The minute is that of Redis' clock, so that replicas count in the
 * same one.
 */
export type CountCall = (request: CountRequest) => Promise<Counted>;

const COUNT_LUA = `${EPOCH_LUA}${COUNTER_LUA}
local hook_epoch, workspace_epoch = epochs_of(KEYS[1], KEYS[2])
if hook_epoch ~= ARGV[1] or workspace_epoch ~= ARGV[2] then return {0, hook_epoch, workspace_epoch} end
if ARGV[4] == '0' then return {1} end
local counter = counter_of(KEYS[3])
if tonumber(redis.call('get', counter) or '0') >= tonumber(ARGV[3]) then
  return {2, ${SECONDS_PER_MINUTE} - redis.call('time')[1] % ${SECONDS_PER_MINUTE}}
end
count_call(counter)
return {1}`;

type Reply = [0, string, string] | [1] | [2, number];

export function createCallCounter(redis: Redis): CountCall {
  const countCall = defineScript(redis, { name: "toolgateCountHookCall", lua: COUNT_LUA, keys: 3 });
  return async ({ hookId, workspaceId, known, limit, count }) => {
    const reply = (await countCall(
      [epochKey(epochScope(hookId)), epochKey(`workspace:${workspaceId}`), `toolgate:hook-calls:${hookId}:`],
      [known?.hook ?? "", known?.workspace ?? "", limit, count ? 1 : 0],
    )) as Reply;
    if (reply[0] === 0) return { kind: "stale", epochs: { hook: reply[1], workspace: reply[2] } };
    return reply[0] === 1 ? { kind: "counted" } : { kind: "limited", retryAfterSeconds: reply[1] };
  };
}
