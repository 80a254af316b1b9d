import { randomUUID } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { connectBus } from "@toolgate/event-bus/connect";
import { ensureStreams } from "@toolgate/event-bus/streams";
import { AuditBatchSchema, type AuditRecord } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import { createPool, inTransaction } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { AUDIT_SUBJECT, relayAuditEntries, runAuditRelay } from "../src/relay.ts";
import { writeAuditEntry } from "../src/write.ts";

const SCHEMA = "shop";
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
    create table ${SCHEMA}.item (name text);
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
      writeAuditEntry(pool, SCHEMA, { principal, at, action: "item.create", targetId: name, fields: ["name"] }),
    waiting: async () => (await pool.query(`select count(*) as entries from ${SCHEMA}.audit_outbox`)).rows[0].entries,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("[WMGMT] an action and its audit entry are committed together or not at all", async () => {
  await using audit = await rig();
  const make = (name: string, fails: boolean) =>
    inTransaction(audit.pool, async (client) => {
      await client.query(`insert into ${SCHEMA}.item values ($1)`, [name]);
      await writeAuditEntry(client, SCHEMA, { principal, at: new Date(), action: "item.create", targetId: name });
      if (fails) throw new Error("refused");
    });
  await make("kept", false);
  await expect(make("undone", true)).rejects.toThrow("refused");
  expect(await relayAuditEntries({ ...audit, schema: SCHEMA })).toBe(1);
  await eventually(() => audit.received.length === 1);
  expect(audit.received[0]).toMatchObject({
    workspaceId: principal.workspaceId,
    actorId: principal.userId,
    actor: "ada@example.test",
    action: "item.create",
    targetId: "kept",
    target: "kept",
  });
});

test("[WMGMT] entries that the broker has written are deleted; the others are kept and published when it is back", async () => {
  await using audit = await rig();
  await audit.write("first");
  await relayAuditEntries({ ...audit, schema: SCHEMA });
  expect(await audit.waiting()).toBe(0);
  await audit.server.kill();
  await audit.write("second");
  await expect(relayAuditEntries({ ...audit, schema: SCHEMA })).rejects.toThrow();
  expect(await audit.waiting()).toBe(1);
  await audit.server.restart();
  const stop = new AbortController();
  const relay = runAuditRelay({ ...audit, schema: SCHEMA, signal: stop.signal, onError: () => {} });
  await eventually(() => audit.received.some(({ targetId }) => targetId === "second"));
  await eventually(async () => (await audit.waiting()) === 0);
  stop.abort();
  await relay;
});

test("[WMGMT] a service that stops relays what it has just written", async () => {
  await using audit = await rig();
  await audit.write("last");
  const stop = new AbortController();
  stop.abort();
  await runAuditRelay({ ...audit, schema: SCHEMA, signal: stop.signal, onError: () => {} });
  await eventually(() => audit.received.some(({ targetId }) => targetId === "last"));
  expect(await audit.waiting()).toBe(0);
});

test("[WMGMT] the oldest entries are relayed first; replicas that relay at the same time publish each of the others once", async () => {
  await using audit = await rig();
  const start = Date.now();
  for (let index = 0; index < 450; index += 1) await audit.write(`item-${index}`, new Date(start + index));
  const relay = () => relayAuditEntries({ ...audit, schema: SCHEMA });
  expect(await relay()).toBe(200);
  await eventually(() => audit.received.length === 200);
  expect(audit.received.map(({ targetId }) => targetId)).toEqual(Array.from({ length: 200 }, (_, at) => `item-${at}`));
  // How replicas share what is left depends on who comes first to each entry.
  const relayed = await Promise.all([relay(), relay(), relay()]);
  expect(relayed.reduce((sum, entries) => sum + entries)).toBe(250);
  await eventually(() => audit.received.length === 450);
  expect(new Set(audit.received.map(({ targetId }) => targetId)).size).toBe(450);
  expect(await audit.waiting()).toBe(0);
});
