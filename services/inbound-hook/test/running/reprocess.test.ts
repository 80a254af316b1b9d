import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { newTimedId } from "@toolgate/postgres/timed-id";
import { eventually } from "@toolgate/testbed/eventually";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { type ChatServer, createHold, startChat } from "./chat-server.ts";
import { type RunRig, startRunRig } from "./run-rig.ts";

let rig: RunRig;
let chat: ChatServer;
let workspace: TestWorkspace;
beforeAll(async () => {
  chat = await startChat();
  rig = await startRunRig({ chat: chat.transport });
  workspace = await rig.newWorkspace();
});
afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
  await chat?.[Symbol.asyncDispose]();
});

const toolTarget = (tool: string) => ({ target: { target: { case: "tool", value: tool } } }) as const;

test("[IN-12] [IN-13] the log shows a body without its secrets, and reprocessing uses the body with them", async () => {
  await workspace.saveTool("length", {
    inbound_hook: true,
    parameters: { type: "object", properties: { password: { type: "string" } } },
    handler: "export default ({ password }) => ({ length: password.length });",
  });
  const hook = await workspace.createHook(toolTarget("length"));
  const id = await rig.accept(hook, '{ "password": "hunter2",  "n": 1 }');
  await rig.ended(id);
  const shown = await workspace.deliveries.getHookDelivery({ deliveryId: id });
  expect(Buffer.from(shown.body).toString()).toBe('{"password":"[entfernt]","n":1}');
  expect(shown.delivery?.target).toMatchObject(toolTarget("length").target);
  await workspace.deliveries.reprocessHookDelivery({ deliveryId: id });
  const second = await eventually(async () => {
    const { runs, last } = await rig.ended(id);
    return runs.length === 2 && last;
  });
  expect(JSON.parse(second.result)).toEqual({ length: 7 });
});

test("[IN-13] [IN-58] a delivery is reprocessed under its id, with the stored body and the current release", async () => {
  await workspace.saveTool("again", {
    inbound_hook: true,
    handler: 'export default () => { throw new Error("first"); };',
  });
  const hook = await workspace.createHook(toolTarget("again"));
  const id = await rig.accept(hook, { a: 1 });
  expect(await rig.ended(id)).toMatchObject({ status: "failed", error: "first" });

  const properties = { a: {}, _webhook: {} };
  const handler = "export default ({ a, _webhook }) => ({ a, delivery: _webhook.delivery_id });";
  await workspace.saveTool("again", { inbound_hook: true, parameters: { type: "object", properties }, handler });
  const { delivery } = await workspace.deliveries.reprocessHookDelivery({ deliveryId: id });
  expect(delivery).toMatchObject({ id, error: "" });
  const second = await eventually(async () => {
    const { runs, last } = await rig.ended(id);
    return runs.length === 2 && last;
  });
  expect(second).toMatchObject({ number: 2, status: "succeeded", error: "", requested_by: "admin@example.test" });
  expect(JSON.parse(second.result)).toEqual({ a: 1, delivery: id });

  await workspace.saveTool("again", { handler });
  await workspace.deliveries.reprocessHookDelivery({ deliveryId: id });
  await eventually(async () => (await rig.ended(id)).runs.length === 3);
  const shown = await workspace.deliveries.getHookDelivery({ deliveryId: id });
  expect(shown.delivery).toMatchObject({ runs: 3, error: "not released" });
  expect(shown.hookRuns.map(({ error }) => error)).toEqual(["first", "", "not released"]);
  await eventually(async () => {
    const { entries } = await workspace.audit.listAuditEntries({});
    const audited = entries.filter((one) => one.action === "hook.reprocess" && one.targetId === String(hook.id));
    expect(audited).toMatchObject(Array.from({ length: 2 }, () => ({ target: "Hook", actor: "admin@example.test" })));
  });
});

test("[IN-13] a delivery that waits or runs is not reprocessed, even by simultaneous requests", async () => {
  const hold = createHold();
  chat.run = async () => {
    await hold.wait();
    return { case: "reply", value: "late" };
  };
  chat.assistants.push({ workspaceId: workspace.id, name: "clerk", released: true });
  const hook = await workspace.createHook({ target: { target: { case: "assistant", value: "clerk" } } });
  const busy = refusal(Code.FailedPrecondition, /the delivery is still waiting or running/);
  const running = await rig.accept(hook, { a: 1 });
  await eventually(async () => (await rig.outcomeOf(running)).status === "running");
  await expect(workspace.deliveries.reprocessHookDelivery({ deliveryId: running })).rejects.toEqual(busy);

  await rig.expireLease(running);
  expect(await rig.ended(running)).toMatchObject({ status: "interrupted" });
  const requests = await Promise.allSettled(
    Array.from({ length: 5 }, () => workspace.deliveries.reprocessHookDelivery({ deliveryId: running })),
  );
  expect(requests.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const request of requests) if (request.status === "rejected") expect(request.reason).toEqual(busy);
  hold.release();
  expect(await rig.ended(running)).toMatchObject({ status: "succeeded", runs: [{ number: 1 }, { number: 2 }] });
});

test("[IN-13] nothing is reprocessed for a locked workspace, a deleted hook, or another workspace", async () => {
  const other = await rig.newWorkspace();
  const hook = await other.createHook();
  const id = await rig.accept(hook, { text: "a" });
  await rig.ended(id);
  const reprocess = (deliveryId: string, by = other) => by.deliveries.reprocessHookDelivery({ deliveryId });
  const missing = refusal(Code.NotFound, /no such delivery/);
  await expect(reprocess(id, workspace)).rejects.toEqual(missing);
  for (const unknown of [newTimedId(rig.clock.now()), randomUUID(), "", "x"]) {
    await expect(reprocess(unknown)).rejects.toEqual(missing);
  }
  const lock = "update key_auth.workspaces set locked = $2 where id = $1";
  await rig.pool.query(lock, [other.id, true]);
  await expect(reprocess(id)).rejects.toEqual(refusal(Code.FailedPrecondition, /the workspace is locked/));
  await rig.pool.query(lock, [other.id, false]);
  await rig.pool.query("update inbound_hook.delivery set runs = 100 where id = $1", [id]);
  await expect(reprocess(id)).rejects.toEqual(refusal(Code.FailedPrecondition, /too often/));
  await other.hooks.deleteHook({ hookId: hook.id });
  await expect(reprocess(id)).rejects.toEqual(refusal(Code.FailedPrecondition, /the hook was deleted/));
  expect((await rig.outcomeOf(id)).runs).toHaveLength(1);
});
