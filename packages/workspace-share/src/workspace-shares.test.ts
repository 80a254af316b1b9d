import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { type TestClock, testClock } from "@toolgate/testbed/test-clock";
import { expect, test } from "vitest";
import { createNeighbours, type Neighbours } from "./neighbours.ts";
import { type Clock, ShareExceeded, type ShareLimits, type Turn } from "./turn.ts";
import { createWorkspaceShares } from "./workspace-shares.ts";

const LIMITS: ShareLimits = { bytesPerSecond: 1_000, burstBytes: 500, maxWaiting: 10, maxWaitMs: 60_000 };

function startShares(limits: Partial<ShareLimits> = {}, clock: TestClock = testClock(), neighbours?: Neighbours) {
  const shares = createWorkspaceShares({ ...LIMITS, ...limits }, clock, neighbours);
  const started: string[] = [];
  const turns: Turn[] = [];
  /** Notes when it has its turn; the work goes on until its turn is disposed. */
  const begin = async (workspace: string, bytes: number, signal?: AbortSignal) => {
    const turn = await shares.begin(workspace, bytes, signal && (() => signal));
    started.push(workspace);
    turns.push(turn);
    return turn;
  };
  /** Work that ends at once. */
  const work = async (workspace: string, bytes: number, signal?: AbortSignal) =>
    (await begin(workspace, bytes, signal))[Symbol.dispose]();
  return { shares, clock, started, turns, begin, work };
}

test("a workspace that has used more than its share waits, and another one does not", async () => {
  const { clock, started, work } = startShares();
  await work("noisy", 2_500);
  const waiting = work("noisy", 1);
  await work("quiet", 100);
  expect(started).toEqual(["noisy", "quiet"]);
  await clock.pass(2_000);
  expect(started).toEqual(["noisy", "quiet"]);
  await clock.pass(1);
  await waiting;
  expect(started).toEqual(["noisy", "quiet", "noisy"]);
});

test("over time, a workspace gets its bytes per second however much work it has waiting", async () => {
  const { clock, started, work } = startShares({ maxWaiting: 1_000 });
  const all = Array.from({ length: 200 }, () => work("noisy", 100));
  await clock.pass(10_000);
  // 10 s at ten pieces of work a second, and the burst.
  expect(started.length).toBeGreaterThanOrEqual(100);
  expect(started.length).toBeLessThanOrEqual(107);
  await clock.pass(20_000);
  await Promise.all(all);
});

test("work is charged in advance with what the workspace's work usually uses", async () => {
  const { clock, started, shares, begin } = startShares();
  for (let count = 0; count < 8; count += 1) {
    await clock.pass(100_000);
    const turn = await shares.begin("noisy");
    turn.charge(1_000);
    turn[Symbol.dispose]();
  }
  await clock.pass(100_000);
  const all = [begin("noisy", 0), begin("noisy", 0), begin("noisy", 0)];
  await eventLoopTurn();
  expect(started.length).toBe(1);
  await clock.pass(10_000);
  await Promise.all(all);
});

test("small work is free, and what work used less than expected is given back", async () => {
  const { started, work, begin } = startShares({ freeBytes: 50 });
  for (let count = 0; count < 1_000; count += 1) await work("small", 50);
  expect(started.length).toBe(1_000);
  await begin("other", 400);
  await work("other", 0);
  expect(started.length).toBe(1_002);
});

test("bytes without a turn of their own count too", async () => {
  const { shares, clock, started, work } = startShares();
  shares.charge("noisy", 1_500);
  const waiting = work("noisy", 0);
  await clock.pass(999);
  expect(started).toEqual([]);
  await clock.pass(2);
  await waiting;
});

test("at most so many pieces of a workspace's work are under way, in the order in which they came", async () => {
  const { turns, started, begin } = startShares({ maxRunning: 2 });
  const all = [1, 2, 3, 4].map(() => begin("noisy", 0));
  await begin("quiet", 0);
  expect(started).toEqual(["noisy", "noisy", "quiet"]);
  turns[0]?.[Symbol.dispose]();
  turns[0]?.[Symbol.dispose]();
  await eventLoopTurn();
  expect(started.length).toBe(4);
  turns[1]?.[Symbol.dispose]();
  await Promise.all(all);
});

test("work is refused when too much waits, or when it has waited too long", async () => {
  const { clock, work } = startShares({ maxWaiting: 2, maxWaitMs: 1_000 });
  await work("noisy", 10_500);
  const waiting = [work("noisy", 1), work("noisy", 1)].map((one) => one.catch((error: unknown) => error));
  const refused = await work("noisy", 1).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ShareExceeded);
  expect((refused as ShareExceeded).retryAfterSeconds).toBe(10);
  await work("quiet", 1);
  await clock.pass(1_000);
  for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(ShareExceeded);
});

test("work whose debt is paid in the moment in which it begins to wait is not forgotten", async () => {
  for (let bytes = 495; bytes < 510; bytes += 1) {
    const clock = testClock();
    let readings = 0;
    // A millisecond passes from one reading to the next.
    const { started, work } = startShares({}, { ...clock, nowMs: () => clock.nowMs() + readings++ });
    await work("noisy", bytes);
    void work("noisy", 1);
    await clock.pass(1_000);
    expect(started.length).toBe(2);
  }
});

test("work waits no longer than for the debt that is left when other work has used less than it reserved", async () => {
  const { clock, started, turns, begin } = startShares();
  await begin("noisy", 400);
  await begin("noisy", 50_000);
  void begin("noisy", 1);
  await clock.pass(10);
  // 50,000 bytes were reserved, and 600 used.
  turns[1]?.charge(-49_400);
  turns[1]?.[Symbol.dispose]();
  await clock.pass(1_000);
  expect(started.length).toBe(3);
});

test("work that waits only for other work to end needs no timer, even after a debt", async () => {
  const clock = testClock();
  let timers = 0;
  const after: Clock["after"] = (ms, callback) => {
    if (ms < LIMITS.maxWaitMs) timers += 1;
    return clock.after(ms, callback);
  };
  const { started, turns, begin } = startShares({ maxRunning: 1 }, { ...clock, after });
  await begin("noisy", 501);
  void begin("noisy", 1);
  await clock.pass(10_000);
  expect(timers).toBeLessThan(3);
  turns[0]?.[Symbol.dispose]();
  await eventLoopTurn();
  expect(started.length).toBe(2);
});

test("work whose caller has gone leaves the queue, and the others move up", async () => {
  const { clock, started, work } = startShares();
  await work("noisy", 1_500);
  const gone = new AbortController();
  const left = work("noisy", 1, gone.signal);
  const stays = work("noisy", 1);
  gone.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await clock.pass(1_100);
  await stays;
  expect(started.length).toBe(2);
  await expect(work("noisy", 5_000).then(() => work("noisy", 1, AbortSignal.abort(new Error("gone"))))).rejects.toThrow(
    "gone",
  );
});

test("many small pieces of work count while others have work too, and not for a workspace that is alone", async () => {
  const { clock, started, work } = startShares({ freeBytes: 50, bytesBesideOthers: 10, maxWaiting: 1_000 });
  for (let count = 0; count < 100; count += 1) await work("noisy", 1);
  expect(started.length).toBe(100);
  await work("quiet", 1);
  const all = Array.from({ length: 100 }, () => work("noisy", 1));
  await eventLoopTurn();
  // The burst is worth 50 of them.
  expect(started.length).toBe(151);
  await work("quiet", 1);
  expect(started.at(-1)).toBe("quiet");
  await clock.pass(1_000);
  await Promise.all(all);
});

test("work of other shares makes a workspace a neighbour too, and theirs is not bounded by work here", async () => {
  const clock = testClock();
  const callers = createNeighbours(clock);
  const neighbours = createNeighbours(clock, callers);
  const limits = { bytesBesideOthers: 100 };
  const { started, work } = startShares(limits, clock, neighbours);
  for (let count = 0; count < 100; count += 1) await work("noisy", 0);
  callers.note("noisy");
  for (let count = 0; count < 100; count += 1) await work("noisy", 0);
  callers.note("quiet");
  const all = Array.from({ length: 10 }, () => work("noisy", 0));
  await eventLoopTurn();
  // The burst is worth five of them.
  expect(started.length).toBe(205);
  expect(callers.has("quiet")).toBe(true);
  await clock.pass(2_000);
  expect(callers.has("quiet")).toBe(false);
  await Promise.all(all);
});

test("a piece of work may count its own bytes beside others", async () => {
  const { clock, started, shares, work } = startShares({ bytesBesideOthers: 1 });
  await work("quiet", 0);
  const costly = () => Promise.resolve(shares.begin("noisy", 0, undefined, 250)).then(() => started.push("costly"));
  const all = [costly(), costly(), costly()];
  await eventLoopTurn();
  // The burst is worth two of them.
  expect(started).toEqual(["quiet", "costly", "costly"]);
  await clock.pass(1_000);
  await Promise.all(all);
});

test("work of a workspace of which nothing is known yet does not all begin at once, and small work soon does", async () => {
  const { turns, started, begin, work } = startShares({ unknownBytes: 100, bytesPerSecond: 0.001, maxWaiting: 100 });
  const all = Array.from({ length: 20 }, () => begin("noisy", 0));
  await eventLoopTurn();
  expect(started.length).toBe(5);
  for (let ended = 0; ended < 20; ended += 1) {
    turns[ended]?.[Symbol.dispose]();
    await eventLoopTurn();
  }
  await Promise.all(all);
  for (let count = 0; count < 50; count += 1) await work("noisy", 0);
  const atOnce = Array.from({ length: 100 }, () => begin("noisy", 0));
  await eventLoopTurn();
  expect(started.length).toBe(170);
  await Promise.all(atOnce);
});
