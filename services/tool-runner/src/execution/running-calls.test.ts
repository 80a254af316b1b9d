import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import type { IdempotentCall } from "../store/idempotent-calls.ts";
import { createRunningCalls } from "./running-calls.ts";

const idempotentCall = (idempotencyKey: string): IdempotentCall => ({ keyId: "1", tool: "t", idempotencyKey });
const never = new AbortController().signal;
const inOneMinute = () => performance.now() + 60_000;
/** What a caller waits for: the call with this idempotency key, for a minute at most. */
const wait = (
  idempotencyKey: string,
  given: { workspaceId?: string; waitUntil?: number; signal?: AbortSignal } = {},
) => ({
  idempotentCall: idempotentCall(idempotencyKey),
  workspaceId: "w",
  waitUntil: inOneMinute(),
  signal: never,
  ...given,
});

test("[TOOL] all callers that wait for calls of other processes share one query at a time", async () => {
  const asked: number[] = [];
  const queries: PromiseWithResolvers<number[]>[] = [];
  const running = createRunningCalls((idempotentCalls) => {
    asked.push(idempotentCalls.length);
    const query = Promise.withResolvers<number[]>();
    queries.push(query);
    if (queries.length > 1) query.resolve([...idempotentCalls.keys()]);
    return query.promise;
  });
  const waiting = Array.from({ length: 100 }, (_, n) =>
    running.until(wait(String(n % 20), { workspaceId: `w${n % 3}` })),
  );
  await eventually(() => queries.length > 0);
  queries[0]?.resolve([0, 1]);
  expect(await Promise.all(waiting)).toEqual(new Array(100).fill(true));
  expect(asked).toEqual([20, 18]);
});

test("[TOOL] callers that wait for a call of this process learn of its end without a query", async () => {
  let queries = 0;
  const running = createRunningCalls(async () => {
    queries += 1;
    return [];
  });
  const call = Promise.withResolvers<void>();
  const first = running.during(idempotentCall("a"), () => call.promise);
  const repeats = [1, 2, 3].map(() => running.until(wait("a")));
  // Longer than the pause between two queries.
  expect(await running.until(wait("a", { waitUntil: performance.now() + 300 }))).toBe(false);
  call.resolve();
  await first;
  expect(await Promise.all(repeats)).toEqual([true, true, true]);
  expect(queries).toBe(0);
});

test("[TOOL] a query that fails wakes every caller, and a caller that has disconnected stops waiting", async () => {
  const running = createRunningCalls(() => Promise.reject(new Error("no database")));
  const disconnected = new AbortController();
  const waiting = running.until(wait("b", { signal: disconnected.signal }));
  disconnected.abort();
  expect(await waiting).toBe(false);
  expect(await running.until(wait("b", { signal: disconnected.signal }))).toBe(false);
  expect(await running.until(wait("c"))).toBe(true);
});

test("[TOOL] [FAIR-4] callers of one workspace that wait leave room for those of another", async () => {
  const running = createRunningCalls(async () => []);
  const call = Promise.withResolvers<void>();
  const first = running.during(idempotentCall("a"), () => call.promise);
  const noisy = Array.from({ length: 200 }, () => running.until(wait("a", { workspaceId: "noisy" })));
  const quiet = running.until(wait("a", { workspaceId: "quiet" }));
  call.resolve();
  await first;
  expect(await quiet).toBe(true);
  expect((await Promise.all(noisy)).filter(Boolean)).toHaveLength(50);
});
