import { randomUUID } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import { connectBus } from "@toolgate/event-bus/connect";
import { ensureStreams } from "@toolgate/event-bus/streams";
import { CallRecordBatchSchema, UsageBatchSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { consumeCallRecords } from "../../src/events/call-records.ts";
import { maintainPartitions } from "../../src/events/daily-partitions.ts";

function callRecord(run: { id?: string } = {}) {
  const id = randomUUID();
  return {
    usage: { id, keyId: randomUUID(), tool: "echo", status: 200, atMs: BigInt(Date.now()), requestId: id },
    execution: {
      id: randomUUID(),
      workspaceId: randomUUID(),
      tool: "echo",
      entryType: "api_key",
      startedAtMs: BigInt(Date.now()),
      success: true,
      argsJson: "{}",
      resultJson: "{}",
      requestId: id,
      ...run,
    },
  };
}

const messageOf = (...records: ReturnType<typeof callRecord>[]) =>
  toBinary(CallRecordBatchSchema, create(CallRecordBatchSchema, { records }));

/** The consumer on real servers, once it is started. */
async function consumerRig() {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await testDatabase());
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 3, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  await migrate({ pool, ...migrationsOf("tool-runner") });
  await maintainPartitions(pool, new Date());
  const nats = resources.use(await testNats());
  const bus = resources.use(await connectBus({ servers: nats.url, name: "test" }));
  await ensureStreams(bus);
  const errors: unknown[] = [];
  const stopping = new AbortController();
  const onError = (error: unknown) => errors.push(error);
  const owned = resources.move();
  return {
    pool,
    start() {
      const consuming = consumeCallRecords({ bus, pool, signal: stopping.signal, onError });
      owned.defer(async () => {
        stopping.abort();
        await consuming;
      });
    },
    errors,
    bus,
    limitMessages: (max_msg_size: number) => bus.jsm.streams.update("RECORDS", { max_msg_size }),
    publish: (...records: ReturnType<typeof callRecord>[]) =>
      publishDurably(bus, "calls.record", messageOf(...records)),
    /** Request ids of the runs in the log, and of the usage records that wait for key-auth. */
    async logged() {
      const { rows } = await pool.query("select request_id from tool_runner.executions");
      const { state } = await bus.jsm.streams.info("RECORDS", { subjects_filter: "records.usage" });
      const usage: string[] = [];
      for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
        const message = await bus.jsm.streams.getMessage("RECORDS", { seq }).catch(() => null);
        if (message?.subject !== "records.usage") continue;
        for (const { requestId } of fromBinary(UsageBatchSchema, message.data).records) usage.push(requestId);
      }
      return { runs: rows.map((row) => row.request_id).sort(), usage: usage.sort() };
    },
    waiting: async () => (await bus.jsm.streams.info("CALLS")).state.messages,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const idsOf = (...records: ReturnType<typeof callRecord>[]) => records.map(({ usage }) => usage.requestId).sort();

test("[LOG-2] [LOG-10] a call's record is acknowledged only once its run is stored and its usage record is passed on", async () => {
  await using rig = await consumerRig();
  const calls = Array.from({ length: 20 }, () => callRecord());
  await rig.publish(...calls);
  // Now the broker refuses the message with their usage records.
  await rig.limitMessages(200);
  rig.start();
  await eventually(() => rig.errors.length > 1);
  expect(await rig.logged()).toEqual({ runs: idsOf(...calls), usage: [] });
  expect(await rig.waiting()).toBe(1);
  await rig.limitMessages(-1);
  await eventually(async () => {
    expect(await rig.logged()).toEqual({ runs: idsOf(...calls), usage: idsOf(...calls) });
    expect(await rig.waiting()).toBe(0);
  });
});

test("[LOG-2] a call whose run Postgres refuses is parked alone: all others of its message are in both logs, and its usage record goes on", async () => {
  await using rig = await consumerRig();
  rig.start();
  const good = Array.from({ length: 40 }, () => callRecord());
  const bad = callRecord({ id: "no uuid" });
  await rig.publish(...good.slice(0, 25), bad, ...good.slice(25));
  await eventually(async () => {
    expect(await rig.logged()).toEqual({ runs: idsOf(...good), usage: idsOf(...good, bad) });
    const { rows } = await rig.pool.query("select subject, payload from tool_runner.parked_message");
    expect(rows).toEqual([{ subject: "calls.record", payload: Buffer.from(messageOf(bad)) }]);
  });
  expect(await rig.waiting()).toBe(0);
});

test("[LOG-2] [LOG-10] while runs cannot be stored for a while, no usage record is passed on; then each call is in both logs once", async () => {
  await using rig = await consumerRig();
  const calls = Array.from({ length: 20 }, () => callRecord());
  for (const call of calls) await rig.publish(call);
  // Not a fault of the data, so that nothing is parked.
  await rig.pool.query("alter table tool_runner.executions rename to executions_away");
  rig.start();
  await eventually(() => rig.errors.length > 3);
  const { state } = await rig.bus.jsm.streams.info("RECORDS");
  expect(state.last_seq).toBe(0);
  expect(await rig.waiting()).toBe(20);
  await rig.pool.query("alter table tool_runner.executions_away rename to executions");
  await eventually(async () => expect(await rig.waiting()).toBe(0));
  expect(await rig.logged()).toEqual({ runs: idsOf(...calls), usage: idsOf(...calls) });
});

test("[LOG-10] usage records that are passed on again are dropped by the broker", async () => {
  await using rig = await consumerRig();
  rig.start();
  const call = callRecord();
  for (const last_seq of [1, 2]) {
    await rig.publish(call);
    await eventually(async () => {
      expect((await rig.bus.jsm.streams.info("CALLS")).state).toMatchObject({ last_seq, messages: 0 });
    });
  }
  expect(await rig.logged()).toEqual({ runs: idsOf(call), usage: idsOf(call) });
});
