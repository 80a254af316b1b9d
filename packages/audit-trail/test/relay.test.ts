import { randomUUID } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { connectBus } from "@toolgate/event-bus/connect";
import { ensureStreams } from "@toolgate/event-bus/streams";
import { AuditBatchSchema, type AuditRecord } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import { createPool, inTransaction } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers";
import { testDatabase } from "@toolgate/testbed/test-database";
import { expect, test } from "vitest";
import { AUDIT_SUBJECT, relayDeeds, runAuditRelay } from "../src/relay.ts";
import { writeDeed } from "../src/write.ts";

const SCHEMA = "rooms";
const principal = { userId: randomUUID(), email: "ada@example.test", workspaceId: randomUUID() };

/** A service's schema, and a broker that stores what is relayed. */
async function rig() {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await testNats());
  const database = resources.use(await testDatabase());
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 4, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  await pool.query(`create schema ${SCHEMA};
    create table ${SCHEMA}.room (name text);
    create table ${SCHEMA}.audit_outbox (id uuid primary key, at timestamptz not null, record bytea not null)`);
  const bus = resources.use(await connectBus({ servers: server.url, name: "test" }));
  await ensureStreams(bus);
  const received: AuditRecord[] = [];
  const subscription = bus.nc.subscribe(AUDIT_SUBJECT, {
    callback: (_, message) => {
      received.push(...fromBinary(AuditBatchSchema, message.data).records);
    },
  });
  resources.defer(() => subscription.unsubscribe());
  const owned = resources.move();
  return {
    server,
    pool,
    bus,
    received,
    write: (name: string, at = new Date()) =>
      writeDeed(pool, SCHEMA, { principal, at, action: "room.create", targetId: name, fields: ["name"] }),
    waiting: async () => (await pool.query(`select count(*) as deeds from ${SCHEMA}.audit_outbox`)).rows[0].deeds,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("[WMGMT] a deed and its entry are committed together or not at all", async () => {
  await using rooms = await rig();
  const make = (name: string, fails: boolean) =>
    inTransaction(rooms.pool, async (client) => {
      await client.query(`insert into ${SCHEMA}.room values ($1)`, [name]);
      await writeDeed(client, SCHEMA, { principal, at: new Date(), action: "room.create", targetId: name });
      if (fails) throw new Error("refused");
    });
  await make("kept", false);
  await expect(make("undone", true)).rejects.toThrow("refused");
  expect(await relayDeeds({ ...rooms, schema: SCHEMA })).toBe(1);
  await eventually(() => rooms.received.length === 1);
  expect(rooms.received[0]).toMatchObject({
    workspaceId: principal.workspaceId,
    actorId: principal.userId,
    actor: "ada@example.test",
    action: "room.create",
    targetId: "kept",
    target: "kept",
  });
});

test("[WMGMT] what the broker has written is deleted; what it has not is kept, and comes when it is back", async () => {
  await using rooms = await rig();
  await rooms.write("first");
  await relayDeeds({ ...rooms, schema: SCHEMA });
  expect(await rooms.waiting()).toBe(0);
  await rooms.server.kill();
  await rooms.write("second");
  await expect(relayDeeds({ ...rooms, schema: SCHEMA })).rejects.toThrow();
  expect(await rooms.waiting()).toBe(1);
  await rooms.server.restart();
  const stop = new AbortController();
  const relay = runAuditRelay({ ...rooms, schema: SCHEMA, signal: stop.signal, onError: () => {} });
  await eventually(() => rooms.received.some(({ targetId }) => targetId === "second"));
  await eventually(async () => (await rooms.waiting()) === 0);
  stop.abort();
  await relay;
});

test("[WMGMT] replicas that relay at once publish each deed once, oldest first", async () => {
  await using rooms = await rig();
  const start = Date.now();
  for (let index = 0; index < 450; index += 1) await rooms.write(`room-${index}`, new Date(start + index));
  const relay = () => relayDeeds({ ...rooms, schema: SCHEMA });
  const relayed = await Promise.all([relay(), relay(), relay()]);
  expect(relayed.toSorted((a, b) => a - b)).toEqual([50, 200, 200]);
  await eventually(() => rooms.received.length === 450);
  expect(new Set(rooms.received.map(({ targetId }) => targetId)).size).toBe(450);
  expect(await rooms.waiting()).toBe(0);
});
