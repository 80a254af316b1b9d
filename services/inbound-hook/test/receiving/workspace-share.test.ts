import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { earlyInMinute, newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
beforeAll(async () => {
  // Whoever has used the first 4 MiB waits for longer than any sender.
  rig = await startReceiveRig({ workspaceBytesPerSecond: 1 });
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const CALLS = 150;
/** 4 MiB at 48 KiB each. */
const AT_ONCE = 85;
const QUIET_EVERY_MS = 100;

/** Hooks of two workspaces that share nothing but the process. */
async function noisyAndQuiet() {
  const [noisy, quiet] = [await rig.newWorkspace(), await rig.newWorkspace()];
  return { noisy: await noisy.createHook({ limit: 10_000 }), quiet: await quiet.createHook({ limit: 10_000 }) };
}

test("[FAIR] [IN-30] a flood of hook calls waits while other workspaces have some, and what is refused then is not stored", async () => {
  const { noisy, quiet } = await noisyAndQuiet();
  await earlyInMinute();
  const ended = new AbortController();
  const quietStatuses: number[] = [];
  const callQuietly = async () => {
    while (!ended.signal.aborted) {
      quietStatuses.push((await rig.sendSigned(quiet, { body: newBody() })).status);
      await sleep(QUIET_EVERY_MS);
    }
  };
  const calling = callQuietly();
  const flood = await Promise.all(Array.from({ length: CALLS }, () => rig.sendSigned(noisy, { body: newBody() })));
  ended.abort();
  await calling;

  const byStatus = Map.groupBy(flood, ({ status }) => status);
  const [stored = [], refused = []] = [byStatus.get(202), byStatus.get(429)];
  expect(stored.length + refused.length).toBe(CALLS);
  // The quiet workspace may have paused for longer than a neighbour lasts.
  expect(stored.length).toBeGreaterThanOrEqual(AT_ONCE);
  expect(refused.length).toBeGreaterThan(0);
  for (const { headers } of refused) expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  expect((await rig.deliveriesOf(noisy.id)).length).toBe(stored.length);
  expect(new Set(quietStatuses)).toEqual(new Set([202]));
});

test("[FAIR] a workspace's large bodies wait, and others' calls do not", async () => {
  const { noisy, quiet } = await noisyAndQuiet();
  await earlyInMinute();
  // 4 MiB, each byte six times.
  for (let count = 0; count < 4; count += 1) {
    const body = JSON.stringify({ count, text: "x".repeat(200_000) });
    expect((await rig.sendSigned(noisy, { body })).status).toBe(202);
  }
  const waiting = rig.sendSigned(noisy, { body: newBody() });
  expect((await rig.sendSigned(quiet, { body: newBody() })).status).toBe(202);
  expect((await waiting).status).toBe(429);
});

test("[FAIR] calls that fail verification use up nothing of their hook's share", async () => {
  const { noisy } = await noisyAndQuiet();
  await earlyInMinute();
  const forged = { body: "x".repeat(200_000), headers: { "x-service-signature": "t=1,v1=00" } };
  for (let count = 0; count < 5; count += 1) expect((await rig.sendSigned(noisy, forged)).status).toBe(401);
  expect((await rig.sendSigned(noisy, { body: newBody() })).status).toBe(202);
});
