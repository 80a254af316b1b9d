import { EventEmitter } from "node:events";
import { ShareExceeded } from "@toolgate/workspace-share/turn";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import type { ReceivableRow } from "../store/receivable-hook.ts";
import type { HookEpochs } from "./admission.ts";
import { createHookGate } from "./hook-gate.ts";

const ROW = { id: 1, workspaceId: "w", active: true, limit: 1_000 } as ReceivableRow;

test("[IN-29] a call that gets no turn is not counted in its hook's minute", async () => {
  const counted: boolean[] = [];
  const epochs: HookEpochs = { hook: "1", workspace: "1" };
  const gate = createHookGate({
    redis: new EventEmitter() as Redis,
    now: () => 0,
    admission: {
      async decide({ known, count }) {
        counted.push(count);
        return known ? { kind: "admitted" } : { kind: "stale", epochs };
      },
    },
    loadRow: async () => ROW,
    openSecret: () => "secret",
    isWorkspaceLocked: async () => false,
    onAdmissionError: () => {},
  });
  const call = (judge: () => Promise<{ refused: boolean }>) => gate.admit(Buffer.alloc(32), judge);
  await call(async () => ({ refused: false }));
  expect(counted.splice(0)).toEqual([false, true]);
  await expect(call(() => Promise.reject(new ShareExceeded(1)))).rejects.toThrow(ShareExceeded);
  expect(counted).toEqual([]);
});

function gateWithoutRedis(isLocked = false) {
  const checks: string[] = [];
  const gate = createHookGate({
    redis: new EventEmitter() as Redis,
    now: () => 0,
    admission: { decide: () => Promise.reject(new Error("redis is down")) },
    loadRow: async () => ROW,
    openSecret: () => "secret",
    isWorkspaceLocked: async (workspaceId) => {
      checks.push(workspaceId);
      return isLocked;
    },
    onAdmissionError: () => {},
  });
  /** Whether the call was refused. */
  const call = async (secret: string) => {
    const admitted = await gate.admit(Buffer.alloc(32), (hook) => ({ refused: hook.locked || hook.secret !== secret }));
    return admitted?.judgement.refused;
  };
  return { call, checks };
}

test("[IN-28] while Redis is down, calls that fail verification cause no call of key-auth", async () => {
  const { call, checks } = gateWithoutRedis();
  expect(await Promise.all(Array.from({ length: 100 }, () => call("wrong")))).not.toContain(false);
  expect(checks).toEqual([]);
});

test("[IN-28] while Redis is down, verified calls of the same moment share a check of the lock, later ones do not", async () => {
  for (const isLocked of [false, true]) {
    const { call, checks } = gateWithoutRedis(isLocked);
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => call("secret")));
    expect(new Set(outcomes)).toEqual(new Set([isLocked]));
    expect(checks).toEqual(["w"]);
    await new Promise((resolve) => setImmediate(resolve));
    await call("secret");
    expect(checks).toEqual(["w", "w"]);
  }
});

test("[IN-28] while Redis is down, a call that has waited for its turn is judged by the hook as it is then", async () => {
  let nowMs = 0;
  let hook = ROW;
  const gate = createHookGate({
    redis: new EventEmitter() as Redis,
    now: () => nowMs,
    admission: { decide: () => Promise.reject(new Error("redis is down")) },
    loadRow: async () => hook,
    openSecret: () => "secret",
    isWorkspaceLocked: async () => false,
    onAdmissionError: () => {},
  });
  const admitted = await gate.admit(Buffer.alloc(32), async ({ active }) => {
    if (nowMs === 0) {
      nowMs = 1_900;
      hook = { ...ROW, active: false };
    }
    return { refused: !active };
  });
  expect(admitted?.judgement).toEqual({ refused: true });
});
