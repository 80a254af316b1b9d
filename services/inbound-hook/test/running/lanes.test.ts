import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { LEASE_MS } from "../../src/running/lane.ts";
import { newBody } from "../receive-rig.ts";
import { type ChatServer, createHold, startChat } from "./chat-server.ts";
import { type RunRig, startRunRig, type TestHook } from "./run-rig.ts";

let chat: ChatServer;
let rig: RunRig;
let hold: ReturnType<typeof createHold>;
beforeAll(async () => {
  chat = await startChat();
  rig = await startRunRig({ chat: chat.transport, instances: [["receiver", "runner"], ["runner"]] });
});
beforeEach(() => {
  hold = createHold();
  const mine = hold;
  chat.run = async () => {
    await mine.wait();
    return { case: "reply", value: "done" };
  };
});
afterAll(async () => {
  hold?.release();
  await rig?.[Symbol.asyncDispose]();
  await chat?.[Symbol.asyncDispose]();
});

async function newAssistantHook() {
  const workspace = await rig.newWorkspace();
  chat.assistants.push({ workspaceId: workspace.id, name: "clerk", released: true });
  const target = { target: { case: "assistant", value: "clerk" } } as const;
  return { workspace, hook: await workspace.createHook({ target, limit: 10_000 }) };
}

async function acceptMany(hook: TestHook, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const calls = Array.from({ length: Math.min(25, count - ids.length) }, () => rig.accept(hook, newBody()));
    ids.push(...(await Promise.all(calls)));
  }
  return ids;
}

async function statuses(hook: TestHook): Promise<Record<string, number>> {
  const { rows } = await rig.pool.query(
    "select status, count(*)::integer as count from inbound_hook.delivery where hook_id = $1 group by status",
    [hook.id],
  );
  return Object.fromEntries(rows.map((row) => [row.status, row.count]));
}

test("[FAIR-4] at most 3 hook deliveries of a workspace run at the same time in a lane, over all processes", async () => {
  const [first, second] = [await newAssistantHook(), await newAssistantHook()];
  await acceptMany(first.hook, 8);
  await eventually(() => hold.reached === 3);
  // Another workspace gets its own slots, and its claims prove that both processes have looked for work since.
  await acceptMany(second.hook, 8);
  await eventually(() => hold.reached === 6);
  expect(await statuses(first.hook)).toEqual({ running: 3, waiting: 5 });
  expect(await statuses(second.hook)).toEqual({ running: 3, waiting: 5 });
  hold.release();
  await eventually(async () => (await statuses(first.hook)).succeeded === 8);
  await eventually(async () => (await statuses(second.hook)).succeeded === 8);
});

test("[FAIR-4] [IN-66] a hundred assistant runs delay no tool of the same workspace", async () => {
  const { workspace, hook } = await newAssistantHook();
  await acceptMany(hook, 100);
  await eventually(() => hold.reached === 3);
  const tool = await workspace.createHook({ limit: 10_000 });
  for (const id of await acceptMany(tool, 20)) expect(await rig.ended(id)).toMatchObject({ status: "succeeded" });
  expect(await statuses(hook)).toEqual({ running: 3, waiting: 97 });
  await workspace.hooks.deleteHook({ hookId: hook.id });
  hold.release();
  // Nothing starts for a deleted hook.
  await eventually(async () => (await statuses(hook)).failed === 97);
  expect(await statuses(hook)).toEqual({ succeeded: 3, failed: 97 });
});

test("[IN-66] the lease of a long run is renewed, and the run ends as usual", async () => {
  const { hook } = await newAssistantHook();
  const id = await rig.accept(hook, newBody());
  await eventually(() => hold.reached === 1);
  const leaseUntil = async () => {
    const { rows } = await rig.pool.query(
      "select lease_until from inbound_hook.assistant_queue_item where item_id = $1",
      [id],
    );
    return rows[0]?.lease_until ?? new Date(0);
  };
  // In small steps: a renewal may already be under way when the clock is set forward, and the lease must outlast it.
  for (let step = 0; step < 6; step += 1) {
    const before = await leaseUntil();
    rig.clock.advance(LEASE_MS / 4);
    await eventually(async () => (await leaseUntil()) > before);
  }
  expect(await rig.outcomeOf(id)).toMatchObject({ status: "running" });
  hold.release();
  expect(await rig.ended(id)).toMatchObject({ status: "succeeded", runs: [{ number: 1 }] });
});

test("[IN-14] deliveries that expire while they wait free their slots and run nothing", async () => {
  const { workspace, hook } = await newAssistantHook();
  const running = await acceptMany(hook, 3);
  await eventually(() => hold.reached === 3);
  const expired = await acceptMany(hook, 4);
  await rig.pool.query("delete from inbound_hook.delivery where id = any($1)", [expired]);
  const kept = await rig.accept(hook, newBody());
  hold.release();
  for (const id of [...running, kept]) expect(await rig.ended(id)).toMatchObject({ status: "succeeded" });
  await eventually(async () => {
    const { rows } = await rig.pool.query(
      "select in_flight from inbound_hook.assistant_queue_group where group_id = $1",
      [workspace.id],
    );
    return rows[0].in_flight === 0;
  });
  const started = chat.requests.filter(({ hookId }) => hookId === hook.id).map(({ deliveryId }) => deliveryId);
  expect(started.toSorted()).toEqual([...running, kept].toSorted());
});

test("[FAIR-1] while NATS is down, runners find due work by polling", async () => {
  const { hook } = await newAssistantHook();
  hold.release();
  await rig.nats.stop();
  try {
    expect(await rig.ended(await rig.accept(hook, newBody()))).toMatchObject({ status: "succeeded" });
  } finally {
    await rig.nats.restart();
  }
});
