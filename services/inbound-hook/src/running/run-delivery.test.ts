import { expect, it } from "vitest";
import type { ClaimedDelivery } from "../store/runs/claim.ts";
import { createRunDelivery, type RunDeliveryDependencies } from "./run-delivery.ts";

const DELIVERY: ClaimedDelivery = {
  claimId: "0199f000-0000-7000-8000-000000000001",
  deliveryId: "0199f000-0000-7000-8000-000000000000",
  createdAt: new Date(0),
  workspaceId: "w",
  attempt: 1,
  run: {
    number: 1,
    chatId: "hook_1_0_a",
    hook: {
      id: 1,
      name: "Hook",
      workspace: "acme",
      target: "tool",
      arguments: { from: "fields", pointers: {} },
      deleted: false,
    },
    externalId: null,
    body: Buffer.from('{"a":1}'),
    contentType: "application/json",
    requestId: "request-1",
    trace: { traceparent: "", tracestate: "" },
  },
};

function scene(changes: Partial<RunDeliveryDependencies> = {}) {
  const scene = { nowMs: 1_000_000, started: 0, errors: [] as unknown[] };
  const run = createRunDelivery({
    lane: "tool",
    isWorkspaceLocked: async () => false,
    runTarget: async () => {
      scene.started += 1;
      return { outcome: "succeeded", result: "{}", durationMs: 1, executionId: "e" };
    },
    redact: (value) => value,
    now: () => new Date(scene.nowMs),
    onError: (error) => scene.errors.push(error),
    ...changes,
  });
  return { scene, run };
}

const RUNNING = new AbortController().signal;

it("[FAIR-5] a run that has not started 20 s after its claim goes back to the queue, and is due immediately", async () => {
  for (const [waitedMs, started] of [
    [20_000, 1],
    [20_001, 0],
  ] as const) {
    const { scene: of, run } = scene({
      async isWorkspaceLocked() {
        of.nowMs += waitedMs;
        return false;
      },
    });
    const record = await run(DELIVERY, RUNNING);
    expect(of.started).toBe(started);
    if (started === 0)
      expect(record).toMatchObject({ outcome: "returned", againAt: new Date(of.nowMs), nextAttempt: 1 });
  }
});

it("[IN-28] nothing starts for a locked workspace, nor while that cannot be checked", async () => {
  const locked = scene({ isWorkspaceLocked: async () => true });
  expect(await locked.run(DELIVERY, RUNNING)).toMatchObject({ outcome: "failed", error: "the workspace is locked" });
  const unknown = scene({ isWorkspaceLocked: () => Promise.reject(new Error("down")) });
  const again = { outcome: "returned", againAt: new Date(1_001_000), nextAttempt: 2 };
  expect(await unknown.run(DELIVERY, RUNNING)).toMatchObject(again);
  expect(locked.scene.started + unknown.scene.started).toBe(0);
});

it("[IN-12] a fault of the platform ends the run with a plain error", async () => {
  const fault = new Error("postgres://user:password@host");
  const { scene: of, run } = scene({ runTarget: () => Promise.reject(fault) });
  expect(await run(DELIVERY, RUNNING)).toMatchObject({ outcome: "failed", error: "internal error", args: '{"a":1}' });
  expect(of.errors).toEqual([fault]);
});
