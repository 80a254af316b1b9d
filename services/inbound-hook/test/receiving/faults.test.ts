import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { testPostgres } from "@toolgate/testbed/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

const resources = new AsyncDisposableStack();
let postgres: Awaited<ReturnType<typeof testPostgres>>;
let rig: ReceiveRig;
beforeAll(async () => {
  postgres = resources.use(await testPostgres());
  rig = resources.use(await startReceiveRig({ clusterUrl: postgres.url, replicas: 2 }));
});
afterAll(() => resources.disposeAsync());

test("[IN-22] [IN-31] while Postgres is down calls get 503 and are not stored; afterwards a repeat is accepted", async () => {
  const workspace = await rig.newWorkspace();
  const [hook, cold] = [await workspace.createHook(), await workspace.createHook()];
  expect((await rig.sendSigned(hook, { body: newBody() })).status).toBe(202);
  await postgres.stop();
  const body = newBody();
  for (const { url, secret } of [hook, cold]) {
    const response = await rig.sendSigned({ url, secret }, { body });
    expect(response).toMatchObject({
      status: 503,
      text: '{"success":false,"error":"Voruebergehend nicht verfuegbar"}',
      headers: { "retry-after": "1" },
    });
  }
  // What needs no database is refused as usual.
  expect((await rig.send(hook.url)).status).toBe(401);
  await postgres.restart();
  await eventually(async () => {
    await rig.pool.query("select 1");
  });
  const { status, body: repeated } = await rig.sendSigned(hook, { body });
  expect(status).toBe(202);
  expect((await rig.deliveriesOf(hook.id)).map(({ id }) => id).slice(1)).toEqual([repeated.delivery_id]);
});

test("[IN-22] [IN-29] while Redis is down hooks work from Postgres, and each process counts the limit", async () => {
  const workspace = await rig.newWorkspace();
  const hook = await workspace.createHook({ limit: 3 });
  await rig.redis.stop();
  await earlyInMinute();
  const call = { body: newBody(), at: Math.floor(Date.now() / 1000) };
  for (const status of [202, 200, 200, 429]) {
    const response = await rig.sendSigned(hook, call);
    expect(response.status).toBe(status);
    if (status === 429) expect(Number(response.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  }
  // Replay keys are in Postgres, so the other replica knows them.
  expect((await rig.sendSigned(hook, { ...call, replica: 1 })).status).toBe(200);
  await rig.pool.query("update inbound_hook.hook set active = false where id = $1", [hook.id]);
  expect((await rig.sendSigned(hook, { ...call, replica: 1 })).status).toBe(404);
  await rig.redis.restart();
  // Every process has found Redis again when it can announce a change.
  await eventually(() => rig.newWorkspace());
});

test("[IN-17] after a wiped Redis no replica uses what it had cached before", async () => {
  const workspace = await rig.newWorkspace();
  const hook = await workspace.createHook();
  const statuses = async () => [
    (await rig.sendSigned(hook, { body: newBody() })).status,
    (await rig.sendSigned(hook, { body: newBody(), replica: 1 })).status,
  ];
  await eventually(async () => expect(await statuses()).toEqual([202, 202]));
  await rig.redis.wipe();
  await rig.pool.query("update inbound_hook.hook set active = false where id = $1", [hook.id]);
  expect(await statuses()).toEqual([404, 404]);
});
