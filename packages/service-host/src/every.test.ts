import { expect, test } from "vitest";
import { pause, runEvery, runFound } from "./every.ts";

test("a job that fails, even synchronously, is reported and run again", async () => {
  const stop = new AbortController();
  const errors: unknown[] = [];
  let runs = 0;
  const job = () => {
    runs += 1;
    if (runs === 1) throw new Error("first");
    if (runs === 2) return Promise.reject(new Error("later"));
    stop.abort();
    return Promise.resolve();
  };
  await runEvery(1, stop.signal, job, (error) => errors.push((error as Error).message));
  expect([runs, errors]).toEqual([3, ["first", "later"]]);
});

test("a pause ends as soon as its signal fires, and does not begin if it has fired", async () => {
  const stop = new AbortController();
  const pausing = pause(60_000, stop.signal);
  stop.abort();
  await pausing;
  await pause(60_000, stop.signal);
});

test("what a look finds runs next to the following looks, once at a time, and is waited for in the end", async () => {
  const stop = new AbortController();
  const errors: unknown[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const runs = { slow: 0, failing: 0 };
  const slow = async () => {
    runs.slow += 1;
    await released;
  };
  const failing = async () => {
    runs.failing += 1;
    throw new Error("failed");
  };
  let looks = 0;
  const look = async () => {
    looks += 1;
    if (looks === 1) throw new Error("not looked");
    if (looks === 4) stop.abort();
    return [slow, failing];
  };
  let hasEnded = false;
  const running = runFound(1, stop.signal, look, (error) => errors.push((error as Error).message)).then(() => {
    hasEnded = true;
  });
  while (!stop.signal.aborted) await pause(1, new AbortController().signal);
  expect([runs, hasEnded]).toEqual([{ slow: 1, failing: 3 }, false]);
  release();
  await running;
  expect(errors).toEqual(["not looked", "failed", "failed", "failed"]);
});
