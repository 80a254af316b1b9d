import { EventEmitter } from "node:events";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import type { ReceivableRow } from "../store/receivable-hook.ts";
import { createCurrentHooks } from "./current-hooks.ts";

const URL_HASH = Buffer.alloc(32);
const ROW = { id: 1, workspaceId: "w", active: true, limit: 1_000 } as ReceivableRow;

test("[IN-28] while Redis is down, only calls that pass verification ask key-auth for the lock", async () => {
  for (const isLocked of [false, true]) {
    const checks: string[] = [];
    const hooks = createCurrentHooks({
      redis: new EventEmitter() as Redis,
      now: () => 0,
      counter: { count: () => Promise.reject(new Error("redis is down")) },
      find: async () => ROW,
      openSecret: () => "secret",
      isWorkspaceLocked: async (workspaceId) => {
        checks.push(workspaceId);
        return isLocked;
      },
      onRedisError: () => {},
    });
    const isRefused = async (secret: string) => {
      const judged = await hooks.call(URL_HASH, (hook) => ({ counts: !hook.locked && hook.secret === secret }));
      return judged && !judged.judgement.counts;
    };
    expect(await isRefused("wrong")).toBe(true);
    expect(checks).toEqual([]);
    expect(await isRefused("secret")).toBe(isLocked);
    expect(checks).toEqual(["w"]);
  }
});
