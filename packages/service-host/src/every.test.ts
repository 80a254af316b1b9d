import { expect, test } from "vitest";
import { pause, runEvery } from "./every.ts";

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
