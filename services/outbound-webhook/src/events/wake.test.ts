import { expect, it } from "vitest";
import { createDoorbell } from "./wake.ts";

const NEVER = new AbortController().signal;

it("[FAIR-1] a ring while the loop is busy ends its next wait at once; many rings are one", async () => {
  const doorbell = createDoorbell();
  doorbell.ring();
  doorbell.ring();
  await doorbell.wait(60_000, NEVER);
  let waiting = true;
  const second = doorbell.wait(60_000, NEVER).then(() => {
    waiting = false;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(waiting).toBe(true);
  doorbell.ring();
  await second;
});

it("[FAIR-1] a wait ends after its time and when the signal fires", async () => {
  const doorbell = createDoorbell();
  await doorbell.wait(1, NEVER);
  const stop = new AbortController();
  const wait = doorbell.wait(60_000, stop.signal);
  stop.abort();
  await wait;
  await doorbell.wait(60_000, stop.signal);
});
