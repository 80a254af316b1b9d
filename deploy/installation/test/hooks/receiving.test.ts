import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallResponse } from "../running-toolgate.ts";
import { type RunningHooks, runHooks, type TestHook } from "./running-hooks.ts";

describe("hooks with two replicas of their receiver", () => {
  let hooks: RunningHooks;
  let hook: TestHook;
  beforeAll(async () => {
    hooks = await runHooks("split", { replicas: { "inbound-hook": 2, gateway: 1 } });
    hook = await hooks.createHook();
  });
  afterAll(() => hooks?.[Symbol.asyncDispose]());

  const body = (n: number | string) => JSON.stringify({ text: String(n) });
  const manage = (rpc: string, request: object) =>
    hooks.toolgate.manage<Record<string, string>>(`inbound_hook.v1.HookService/${rpc}`, {
      hookId: hook.id,
      ...request,
    });

  test("[IN-1] [IN-22] [IN-23] a call is accepted once, under the id of its delivery", async () => {
    const at = Math.floor(Date.now() / 1000);
    const accepted = await hooks.call(hook, body("first"), { at });
    expect(accepted).toMatchObject({ status: 202, body: { success: true, accepted: true } });
    const { delivery_id: id } = accepted.body;
    const repeated = await hooks.call(hook, body("first"), { at });
    expect(repeated).toMatchObject({ status: 200, body: { success: true, duplicate: true, delivery_id: id } });
    const { rows } = await hooks.toolgate.pool.query("select request_id from inbound_hook.delivery where id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ request_id: accepted.headers.get("x-request-id") }]);
  });

  test("[AUTH] [IN-17] a change applies from its response on, whichever replica gets the next call", async () => {
    const statuses = async () => {
      const calls = Array.from({ length: 8 }, (_, n) => hooks.call(hook, body(`${Date.now()}-${n}`)));
      return [...new Set((await Promise.all(calls)).map(({ status }) => status))];
    };
    for (let round = 0; round < 5; round += 1) {
      expect(await statuses()).toEqual([202]);
      const { secret = "" } = await manage("RotateHookSecret", {});
      expect(await statuses()).toEqual([401]);
      hook.secret = secret;
      expect(await statuses()).toEqual([202]);
      await manage("UpdateHook", { active: false });
      expect(await statuses()).toEqual([404]);
      await manage("UpdateHook", { active: true });
    }
  });

  test("[IN-22] a replica that is killed loses no accepted call, and what it did not accept can be repeated", async () => {
    const headersOf = (n: number) => ({ "x-service-delivery": `killed ${n}` });
    const send = (n: number) => hooks.call(hook, body(n), { headers: headersOf(n) });
    const numbers = Array.from({ length: 300 }, (_, n) => n);
    const victim = hooks.toolgate.processes().find(({ name }) => name.startsWith("inbound-hook"));
    const first: ({ n: number } & CallResponse)[] = [];
    const remaining = numbers.values();
    const senders = Array.from({ length: 20 }, async () => {
      for (const n of remaining) {
        first.push({ n, ...(await send(n)) });
        if (first.length === 100 && victim) process.kill(victim.pid, "SIGKILL");
      }
    });
    await Promise.all(senders);
    const accepted = first.filter(({ status }) => status === 202);
    expect(new Set(first.map(({ status }) => status)).isSubsetOf(new Set([202, 503]))).toBe(true);
    expect(accepted.length).toBeGreaterThan(0);
    const stored = async () => {
      const { rows } = await hooks.toolgate.pool.query(
        "select id, external_id from inbound_hook.delivery where external_id like 'killed %'",
      );
      return new Map(rows.map(({ id, external_id: externalId }) => [externalId, id]));
    };
    const afterwards = await stored();
    for (const { n, body } of accepted) expect(afterwards.get(`killed ${n}`)).toBe(body.delivery_id);
    for (const { n } of first.filter(({ status }) => status === 503)) {
      await eventually(async () => [200, 202].includes((await send(n)).status));
    }
    expect((await stored()).size).toBe(numbers.length);
  });
});
