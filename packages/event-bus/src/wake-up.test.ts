import { expect, it } from "vitest";
import { createAnnouncer, createWakeUp } from "./wake-up.ts";

const NEVER = new AbortController().signal;

it("[FAIR-1] a signal while the loop is busy ends its next wait immediately; several count as one", async () => {
  const wakeUp = createWakeUp();
  wakeUp.signal();
  wakeUp.signal();
  await wakeUp.wait(60_000, NEVER);
  let waiting = true;
  const second = wakeUp.wait(60_000, NEVER).then(() => {
    waiting = false;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(waiting).toBe(true);
  wakeUp.signal();
  await second;
});

it("[FAIR-1] a wait ends after its time and when the loop is stopped", async () => {
  const wakeUp = createWakeUp();
  await wakeUp.wait(1, NEVER);
  const stop = new AbortController();
  const wait = wakeUp.wait(60_000, stop.signal);
  stop.abort();
  await wait;
  await wakeUp.wait(60_000, stop.signal);
});

it("[FAIR-1] announcements of one turn are one message, and none waits in memory while the broker is down", async () => {
  const published: string[] = [];
  let connected = true;
  const nc = { publish: (subject: string) => published.push(subject), isDraining: () => false };
  const announce = createAnnouncer({ nc: nc as never, isConnected: () => connected }, { subject: "work" });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let count = 0; count < 100; count += 1) announce();
  await turn();
  expect(published).toEqual(["work"]);
  connected = false;
  announce();
  await turn();
  expect(published).toEqual(["work"]);
  connected = true;
  announce();
  await turn();
  expect(published).toEqual(["work", "work"]);
});
