import { expect, test } from "vitest";
import { keepRunning } from "./keep-running.ts";

/** A process that runs for the given times and then stops the watch. */
function runningFor(timesMs: number[], failures: number[] = []) {
  const stop = new AbortController();
  const waits: number[] = [];
  const lines: string[] = [];
  let nowMs = 0;
  let starts = 0;
  return {
    waits,
    lines,
    subject: {
      name: "redis",
      async exited() {
        const time = timesMs[starts];
        if (time === undefined) {
          stop.abort();
          return "stopped";
        }
        nowMs += time;
        return "exit code 1";
      },
      async restart() {
        starts += 1;
        if (failures.includes(starts)) throw new Error("no");
      },
    },
    options: {
      log: (line: string) => void lines.push(line),
      signal: stop.signal,
      wait: async (ms: number) => void waits.push(ms),
      nowMs: () => nowMs,
    },
  };
}

test("starts again with waits that double up to 10 s", async () => {
  const { subject, options, waits } = runningFor(Array(9).fill(0));
  await keepRunning(subject, options);
  expect(waits).toEqual([200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
});

test("waits briefly again after 30 s without a failure", async () => {
  const { subject, options, waits } = runningFor([0, 0, 29_999, 30_000, 0]);
  await keepRunning(subject, options);
  expect(waits).toEqual([200, 400, 800, 200, 400]);
});

test("continues when a start fails, and reports both", async () => {
  const { subject, options, lines } = runningFor([0, 0], [1]);
  await keepRunning(subject, options);
  expect(lines).toEqual([
    "redis ended unexpectedly (exit code 1), starting it again in 0.2 s",
    "redis could not be started: no",
    "redis ended unexpectedly (exit code 1), starting it again in 0.4 s",
    "redis runs again",
  ]);
});

test("leaves a process alone that ends after the watch was stopped", async () => {
  const { subject, options, waits, lines } = runningFor([]);
  await keepRunning(subject, options);
  expect([waits, lines]).toEqual([[], []]);
});
