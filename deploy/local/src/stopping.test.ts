import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { finishWithin, listenForStop, unlessStopped } from "./stopping.ts";

describe("signals", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"])("%s asks to stop, and a later one to stop immediately", (name) => {
    const source = new EventEmitter();
    let nowMs = 0;
    const { stop, stopNow } = listenForStop(source, () => nowMs);
    expect([stop.aborted, stopNow.aborted]).toEqual([false, false]);
    source.emit(name);
    nowMs = 499;
    source.emit("SIGTERM");
    expect([stop.aborted, stopNow.aborted]).toEqual([true, false]);
    nowMs = 500;
    source.emit(name);
    expect(stopNow.aborted).toBe(true);
  });
});

describe("the time given to a stop", () => {
  const never = new Promise(() => {});
  const calm = () => new AbortController();

  test("is true for work that ends, and passes its error on", async () => {
    expect(await finishWithin(Promise.resolve(), 60_000, calm().signal)).toBe(true);
    await expect(finishWithin(Promise.reject(new Error("no")), 60_000, calm().signal)).rejects.toThrow("no");
  });

  test("ends at the deadline, or immediately when asked to", async () => {
    expect(await finishWithin(never, 1, calm().signal)).toBe(false);
    expect(await finishWithin(never, 60_000, AbortSignal.abort())).toBe(false);
    const stopNow = calm();
    const outcome = finishWithin(never, 60_000, stopNow.signal);
    stopNow.abort();
    expect(await outcome).toBe(false);
  });
});

describe("work that a stop interrupts", () => {
  const never = new Promise(() => {});
  const calm = new AbortController().signal;
  const stop = AbortSignal.abort(new Error("told to stop"));

  test("is waited for while nobody asks to stop, and passes its error on", async () => {
    expect(await unlessStopped(Promise.resolve(1), { stop: calm, stopNow: calm }, 1)).toBe(1);
    const failing = Promise.reject(new Error("no"));
    await expect(unlessStopped(failing, { stop: calm, stopNow: calm }, 1)).rejects.toThrow("no");
  });

  test("has some more time after the request, and none when told to stop immediately", async () => {
    expect(await unlessStopped(Promise.resolve(1), { stop, stopNow: calm }, 60_000)).toBe(1);
    await expect(unlessStopped(never, { stop, stopNow: calm }, 1)).rejects.toThrow("told to stop");
    await expect(unlessStopped(never, { stop, stopNow: stop }, 60_000)).rejects.toThrow("told to stop");
  });

  test("ends with the request when it fails because of it", async () => {
    const failing = Promise.reject(new Error("cut off"));
    await expect(unlessStopped(failing, { stop, stopNow: calm }, 60_000)).rejects.toThrow("told to stop");
  });
});
