import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createLogger } from "@toolgate/service-host/logger";
import { createReadiness } from "@toolgate/service-host/process/readiness";
import { hotCallStreams } from "@toolgate/service-host/rpc/hot-calls";
import { startRpcServer } from "@toolgate/service-host/rpc/rpc-server";
import { eventually } from "@toolgate/testbed/eventually";
import { identityEnv } from "@toolgate/testbed/service-identity";
import { testAuthentication } from "@toolgate/testbed/transports";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { newBody } from "../receive-rig.ts";
import { type ChatServer, createHold, startChat } from "./chat-server.ts";
import { type RunRig, startRunRig, type TestHook } from "./run-rig.ts";
import type { RunnerProcessSettings } from "./runner-process.ts";

const SCRIPT = fileURLToPath(new URL("runner-process.ts", import.meta.url));
/** The name of the processes' connections to Postgres. */
const CONNECTION = "runner to be killed";
const INTERRUPTED = /^interrupted/;

const resources = new AsyncDisposableStack();
let chat: ChatServer;
let rig: RunRig;
let workspace: TestWorkspace;
let hook: TestHook;
let settings: RunnerProcessSettings;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  chat = resources.use(await startChat());
  rig = resources.use(await startRunRig({ chat: chat.transport, instances: [["receiver"]] }));
  const log = createLogger({ service: "key-auth", level: "silent" });
  const { signal: drainSignal } = new AbortController();
  const keyAuth = resources.use(
    await startRpcServer({
      routes: hotCallStreams("key-auth", rig.keyAuth, { log, drainSignal }).routes,
      host: "127.0.0.1",
      port: 0,
      authentication: testAuthentication("key-auth"),
      readiness: createReadiness(async () => {}),
      log,
    }),
  );
  const databaseUrl = new URL(rig.config.databaseUrl);
  databaseUrl.searchParams.set("application_name", CONNECTION);
  settings = {
    config: { ...rig.config, receiver: undefined, databaseUrl: databaseUrl.href },
    serviceKey: identityEnv("inbound-hook").SERVICE_KEY,
    keyAuthUrl: `http://127.0.0.1:${keyAuth.port}`,
    chatUrl: chat.url,
  };
  workspace = await rig.newWorkspace();
  chat.assistants.push({ workspaceId: workspace.id, name: "clerk", released: true });
  const target = { target: { case: "assistant", value: "clerk" } } as const;
  hook = await workspace.createHook({ target, limit: 10_000 });
});
beforeEach(() => {
  chat.run = async () => ({ case: "reply", value: "done" });
});
afterAll(async () => {
  for (const child of processes) child.kill("SIGKILL");
  await resources.disposeAsync();
});

async function startRunner(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(settings)], { stdio: ["pipe", "pipe", "inherit"] });
  processes.push(child);
  await once(child.stdout ?? child, "data");
  return child;
}

/** Afterwards nothing of that process is alive, so the test lets its leases expire. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
  // Until Postgres has noticed, the process' last transaction may still commit.
  await eventually(async () => {
    const { rowCount } = await rig.pool.query("select from pg_stat_activity where application_name = $1", [CONNECTION]);
    return rowCount === 0;
  });
  await rig.pool.query(
    "update inbound_hook.assistant_queue_item set lease_until = 'epoch' where lease_until is not null",
  );
}

const startsOf = (deliveryId: string) => chat.requests.filter((request) => request.deliveryId === deliveryId).length;

test("[IN-33] [IN-58] a run whose process was killed becomes interrupted, and only a user runs it again", async () => {
  const hold = createHold();
  chat.run = async () => {
    await hold.wait();
    return { case: "reply", value: "too late" };
  };
  // Accepted while no runner is up.
  const id = await rig.accept(hook, newBody());
  const first = await startRunner();
  await eventually(() => hold.reached === 1);
  await kill(first);
  const second = await startRunner();
  const interrupted = await rig.ended(id);
  expect(interrupted).toMatchObject({ status: "interrupted", error: expect.stringMatching(INTERRUPTED) });
  expect(interrupted.runs).toMatchObject([
    { number: 1, status: "interrupted", error: expect.stringMatching(INTERRUPTED) },
  ]);
  hold.release();
  // Its slot is free again, and the queue continues.
  const next = await rig.accept(hook, newBody());
  await rig.ended(next);
  expect(startsOf(id)).toBe(1);
  await workspace.deliveries.reprocessHookDelivery({ deliveryId: id });
  await eventually(async () => (await rig.outcomeOf(id)).status === "succeeded");
  expect(startsOf(id)).toBe(2);
  await kill(second);
});

test("[IN-33] [IN-58] whenever a runner is killed, no delivery is lost and none starts twice", async () => {
  const ids: string[] = [];
  const chats = new Map<string, number>();
  chat.run = async ({ chatId }) => {
    chats.set(chatId, (chats.get(chatId) ?? 0) + 1);
    await sleep(5);
    return { case: "reply", value: "done" };
  };
  let accepting = true;
  const load = (async () => {
    while (accepting) {
      ids.push(await rig.accept(hook, newBody()));
      await sleep(2);
    }
  })();
  for (let kills = 0; kills < 3; kills += 1) {
    const child = await startRunner();
    const from = chats.size;
    await eventually(() => chats.size > from + kills * 7);
    await kill(child);
  }
  accepting = false;
  await load;
  const last = await startRunner();
  await eventually(
    async () => {
      const { rows } = await rig.pool.query(
        "select from inbound_hook.delivery where status in ('waiting', 'running') limit 1",
      );
      return rows.length === 0;
    },
    { deadlineMs: 60_000 },
  );
  const outcomes = { succeeded: 0, interrupted: 0 };
  for (const id of ids) {
    const { status, runs } = await rig.outcomeOf(id);
    expect(["succeeded", "interrupted"]).toContain(status);
    outcomes[status as keyof typeof outcomes] += 1;
    expect(runs).toMatchObject([{ number: 1, status }]);
    expect(chats.get(runs[0]?.chat_id ?? "") ?? 0).toBeLessThanOrEqual(1);
    if (status === "succeeded") expect(startsOf(id)).toBe(1);
  }
  expect(outcomes.succeeded).toBeGreaterThan(3);
  // At most the three slots of the workspace at each kill.
  expect(outcomes.interrupted).toBeLessThanOrEqual(9);
  await kill(last);
});
