import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
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

async function newAssistantHook(of: RunRig = rig) {
  const workspace = await of.newWorkspace();
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

test("[FAIR-4] [IN-66] a thousand assistant runs delay no tool of the same workspace", async () => {
  const { workspace, hook } = await newAssistantHook();
  await acceptMany(hook, 1_000);
  await eventually(() => hold.reached === 3);
  const tool = await workspace.createHook({ limit: 10_000 });
  for (const id of await acceptMany(tool, 20)) expect(await rig.ended(id)).toMatchObject({ status: "succeeded" });
  expect(await statuses(hook)).toEqual({ running: 3, waiting: 997 });
  await workspace.hooks.deleteHook({ hookId: hook.id });
  hold.release();
  // Nothing starts for a deleted hook.
  await eventually(async () => (await statuses(hook)).failed === 997);
  expect(await statuses(hook)).toEqual({ succeeded: 3, failed: 997 });
});

test("[FAIR-5] [IN-60] a process that stops starts nothing more, and others wait for the assistants that it has started", async () => {
  await using alone = await startRunRig({ chat: chat.transport });
  const { hook } = await newAssistantHook(alone);
  const from = chat.requests.length;
  const running = await alone.accept(hook, newBody());
  await eventually(() => hold.reached === 1);
  await alone.services[0]?.drain();
  const waiting = await alone.accept(hook, newBody());
  expect(await alone.outcomeOf(running)).toMatchObject({ status: "waiting" });
  expect(await alone.outcomeOf(waiting)).toMatchObject({ status: "waiting", runs: [] });
  await alone.start(["runner"]);
  await eventually(() => hold.reached === 3);
  hold.release();
  expect(await alone.ended(running)).toMatchObject({ status: "succeeded", last: { number: 1 } });
  expect(await alone.ended(waiting)).toMatchObject({ status: "succeeded" });
  const asked = chat.requests.slice(from).filter(({ deliveryId }) => deliveryId === running);
  expect(asked).toHaveLength(2);
  expect(new Set(asked.map(({ chatId }) => chatId)).size).toBe(1);
});

test("[IN-66] the lease of a long run is renewed, and the run ends as usual", async () => {
  await using alone = await startRunRig({ chat: chat.transport });
  const { hook } = await newAssistantHook(alone);
  const id = await alone.accept(hook, newBody());
  await eventually(() => hold.reached === 1);
  const leaseUntil = async () => {
    const { rows } = await alone.pool.query(
      "select lease_until from inbound_hook.assistant_queue_item where item_id = $1",
      [id],
    );
    return rows[0]?.lease_until ?? new Date(0);
  };
  for (let minutes = 0; minutes < 3; minutes += 1) {
    alone.clock.advance(120_000);
    await eventually(async () => (await leaseUntil()) > alone.clock.now());
  }
  expect(await alone.outcomeOf(id)).toMatchObject({ status: "running" });
  hold.release();
  expect(await alone.ended(id)).toMatchObject({ status: "succeeded", runs: [{ number: 1 }] });
});

test("[FAIR-1] [IN-66] while the queue of one workspace is locked, the leases of all others are renewed", async () => {
  await using alone = await startRunRig({ chat: chat.transport });
  const [stuck, other] = [await newAssistantHook(alone), await newAssistantHook(alone)];
  const ids = [await alone.accept(stuck.hook, newBody()), await alone.accept(other.hook, newBody())];
  await eventually(() => hold.reached === 2);
  const blocker = await alone.pool.connect();
  try {
    await blocker.query("begin");
    await blocker.query("select from inbound_hook.assistant_queue_group where group_id = $1 for update", [
      stuck.workspace.id,
    ]);
    for (let minutes = 0; minutes < 3; minutes += 1) {
      alone.clock.advance(60_000);
      await eventually(async () => {
        const { rows } = await alone.pool.query(
          "select lease_until > $2 as live from inbound_hook.assistant_queue_item where item_id = $1",
          [ids[1], alone.clock.now()],
        );
        return rows[0]?.live ?? false;
      });
    }
  } finally {
    await blocker.query("rollback");
    blocker.release();
  }
  hold.release();
  expect(await alone.ended(ids[1] ?? "")).toMatchObject({ status: "succeeded", runs: [{ number: 1 }] });
});

test("[FAIR-1] [IN-12] while the queue of one workspace is locked, the results of all others are stored", async () => {
  await using alone = await startRunRig({ chat: chat.transport });
  const [stuck, other] = [await newAssistantHook(alone), await newAssistantHook(alone)];
  const holds = new Map([stuck, other].map(({ workspace }) => [workspace.id, createHold()]));
  chat.run = async ({ workspaceId }) => {
    await holds.get(workspaceId)?.wait();
    return { case: "reply", value: "done" };
  };
  const stuckId = await alone.accept(stuck.hook, newBody());
  const otherId = await alone.accept(other.hook, newBody());
  await eventually(() => [...holds.values()].every(({ reached }) => reached === 1));
  const blocker = await alone.pool.connect();
  try {
    await blocker.query("begin");
    await blocker.query("select from inbound_hook.assistant_queue_group where group_id = $1 for update", [
      stuck.workspace.id,
    ]);
    holds.get(stuck.workspace.id)?.release();
    await eventually(async () => {
      const { rowCount } = await alone.pool.query(
        `select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%assistant_queue_group%'`,
      );
      return rowCount === 1;
    });
    holds.get(other.workspace.id)?.release();
    expect(await alone.ended(otherId)).toMatchObject({ status: "succeeded" });
    expect(await alone.outcomeOf(stuckId)).toMatchObject({ status: "running" });
  } finally {
    await blocker.query("rollback");
    blocker.release();
  }
  expect(await alone.ended(stuckId)).toMatchObject({ status: "succeeded", runs: [{ number: 1 }] });
});

test("[IN-14] deliveries that expire while they wait free their slots and run nothing", async () => {
  await using alone = await startRunRig({ chat: chat.transport, instances: [["receiver"]] });
  const { hook } = await newAssistantHook(alone);
  const before = chat.requests.length;
  for (let count = 0; count < 4; count += 1) await alone.accept(hook, newBody());
  await alone.pool.query("delete from inbound_hook.delivery where hook_id = $1", [hook.id]);
  const kept = await alone.accept(hook, newBody());
  await alone.start(["runner"]);
  hold.release();
  expect(await alone.ended(kept)).toMatchObject({ status: "succeeded" });
  await eventually(async () => {
    const { rows } = await alone.pool.query("select in_flight from inbound_hook.assistant_queue_group");
    return rows.every((row) => row.in_flight === 0);
  });
  expect(chat.requests.slice(before).map((request) => request.deliveryId)).toEqual([kept]);
});
