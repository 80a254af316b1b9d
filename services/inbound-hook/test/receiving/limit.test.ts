import { HookFormat } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_FAILURES_PER_MINUTE } from "../../src/receiving/failure-throttle.ts";
import type { TestWorkspace } from "../hook-rig.ts";
import { newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startReceiveRig({ replicas: 2 });
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const statuses = async (responses: Promise<{ status: number }>[]) =>
  (await Promise.all(responses)).map((one) => one.status);

test("[IN-8] [IN-29] [IN-30] the limit is exact over replicas, and the 429 says when the minute ends", async () => {
  await earlyInMinute();
  const [hook, other] = [await workspace.createHook({ limit: 10 }), await workspace.createHook({ limit: 10 })];
  const calls = Array.from({ length: 30 }, (_, n) => rig.sendSigned(hook, { body: newBody(), replica: n % 2 }));
  const counted = Map.groupBy(await statuses(calls), (status) => status);
  expect([counted.get(202)?.length, counted.get(429)?.length]).toEqual([10, 20]);
  const before = 60 - (Math.floor(Date.now() / 1000) % 60);
  const refused = await rig.sendSigned(hook, { body: newBody() });
  expect(refused.text).toBe('{"success":false,"error":"Aufruflimit erreicht"}');
  const retryAfter = Number(refused.headers["retry-after"]);
  expect(retryAfter).toBeGreaterThanOrEqual(1);
  expect(retryAfter).toBeLessThanOrEqual(before + 1);
  expect(retryAfter).toBeGreaterThanOrEqual(before - 20);
  expect((await rig.sendSigned(other, { body: newBody() })).status).toBe(202);
});

test("[IN-29] 400 and duplicates count; calls that were refused before do not", async () => {
  await earlyInMinute();
  const hook = await workspace.createHook({ limit: 3 });
  const at = Math.floor(Date.now() / 1000);
  const refused = [
    rig.send(hook.url, { headers: { "x-service-signature": "t=1,v1=00" } }),
    rig.sendSigned(hook, { headers: { "x-service-hop": "2" } }),
    rig.sendSigned(hook, { body: "x".repeat(262_145) }),
    rig.send(hook.url, { method: "GET" }),
  ];
  expect(await statuses([...refused, ...refused])).toEqual([401, 508, 413, 405, 401, 508, 413, 405]);
  const call = { body: newBody(), at };
  expect((await rig.sendSigned(hook, call)).status).toBe(202);
  expect((await rig.sendSigned(hook, call)).status).toBe(200);
  expect((await rig.sendSigned(hook, { body: "x" })).status).toBe(400);
  expect((await rig.sendSigned(hook, { body: newBody() })).status).toBe(429);
  // The limit comes before the duplicate.
  expect((await rig.sendSigned(hook, call)).status).toBe(429);
});

test("[IN-9] [LOOP-5] a new hook takes 60 calls a minute, those of a loop included", async () => {
  await earlyInMinute();
  const hook = await workspace.createHook();
  const headers = { "x-service-hop": "1" };
  const calls = await statuses(Array.from({ length: 61 }, () => rig.sendSigned(hook, { body: newBody(), headers })));
  expect(calls.filter((status) => status === 202).length).toBe(60);
});

test("[IN] an address with many calls that fail verification gets 429 for them; correct calls still pass", async () => {
  rig.clock.advance(60_000 - (rig.clock.now().getTime() % 60_000));
  const hook = await workspace.createHook({ format: HookFormat.BEARER, limit: 10_000 });
  const fail = async (ip: string) => (await rig.send(hook.url, { headers: { "x-forwarded-for": ip } })).status;
  const failures: Promise<number>[] = [];
  for (let call = 0; call < MAX_FAILURES_PER_MINUTE; call += 1) failures.push(fail("203.0.113.1"));
  expect(new Set(await Promise.all(failures))).toEqual(new Set([401]));
  const throttled = await rig.send(hook.url, { headers: { "x-forwarded-for": "203.0.113.1" } });
  expect(throttled).toMatchObject({ status: 429, text: '{"success":false,"error":"Aufruflimit erreicht"}' });
  expect(Number(throttled.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  expect(await fail("203.0.113.2")).toBe(401);
  const headers = { authorization: `Bearer ${hook.secret}`, "x-forwarded-for": "203.0.113.1" };
  expect((await rig.send(hook.url, { body: "{}", headers })).status).toBe(202);
});
