import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { RunRecord } from "../store/runs/settle.ts";
import { createResultStore } from "./result-store.ts";

const record = (workspaceId: string): RunRecord => ({
  deliveryId: workspaceId,
  createdAt: new Date(0),
  workspaceId,
  claimId: "c",
  number: 1,
  outcome: "succeeded",
  againAt: null,
  nextAttempt: 1,
  durationMs: 1,
  args: "",
  result: "",
  error: "",
  executionId: "",
});

test("[IN-12] results of other workspaces are stored while one is locked; its own is stored afterwards, and the lock reported", async () => {
  const errors: string[] = [];
  const stored: string[] = [];
  const order: string[] = [];
  const batches: string[] = [];
  let isLocked = true;
  await using results = createResultStore(
    async (records) => {
      batches.push(records.map(({ workspaceId }) => workspaceId).join(" "));
      if (isLocked && records.some(({ workspaceId }) => workspaceId === "locked")) {
        await setImmediate();
        order.push("lock timeout");
        throw Object.assign(new Error("lock timeout"), { code: "55P03" });
      }
      stored.push(...records.map(({ workspaceId }) => workspaceId));
    },
    (error) => errors.push(String(error)),
  );
  const { signal } = new AbortController();
  const free = ["a", "b"].map((workspaceId) =>
    results.store(record(workspaceId), signal).then(() => order.push(workspaceId)),
  );
  const locked = results.store(record("locked"), signal);
  await Promise.all(free);
  // In one batch, then each workspace alone: those that are stored do not wait for the last one.
  expect(order).toEqual(["lock timeout", "a", "b"]);
  expect(stored.toSorted()).toEqual(["a", "b"]);
  // Later results of others are not tried together with those of the locked one.
  const lockedToo = results.store(record("locked"), signal);
  await results.store(record("c"), signal);
  expect(batches.filter((batch) => batch.endsWith(" c"))).toEqual([]);
  isLocked = false;
  await Promise.all([locked, lockedToo]);
  expect(stored.toSorted()).toEqual(["a", "b", "c", "locked", "locked"]);
  expect(new Set(errors)).toEqual(new Set([expect.stringContaining("locked")]));
});
