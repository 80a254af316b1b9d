import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { pipelined } from "../../src/fair-queue/pipeline.ts";
import { type QueueRig, startQueueRig } from "./queue-rig.ts";

const NOW = new Date("2026-11-01T00:00:00Z");

describe("a pipelined transaction", () => {
  let rig: QueueRig;
  beforeAll(async () => {
    rig = await startQueueRig();
  });
  beforeEach(() => rig.sql("truncate work.queue_group, work.queue_member, work.queue_item"));
  afterAll(() => rig[Symbol.asyncDispose]());

  it("throws the first failure, not the errors that follow from it", async () => {
    const statements = ["select 1", "select nonsense", "select 2"].map((text) => ({ name: "", text, values: [] }));
    await expect(pipelined(rig.pool, statements)).rejects.toThrow(/nonsense/);
  });

  it("a later statement sees what was committed while an earlier one waited for its lock", async () => {
    await rig.add([{ groupId: "a", memberId: 1, dueAt: NOW }]);
    const holder = await rig.pool.connect();
    await holder.query("begin");
    await holder.query("select from work.queue_group for update");
    const waiting = pipelined(rig.pool, [
      { name: "", text: "select from work.queue_group for update", values: [] },
      { name: "", text: "select count(*)::int as items from work.queue_item", values: [] },
    ]);
    await holder.query("insert into work.queue_item values (gen_random_uuid(), 'a', 1, $1, $1)", [NOW]);
    await holder.query("commit");
    holder.release();
    const [, counted] = await waiting;
    expect(counted?.rows).toEqual([{ items: 2 }]);
  });

  const plain = (text: string) => ({ name: "", text, values: [] });

  it("a transaction that unlocks early releases its locks before it is on disk, and resolves once it is", async () => {
    for (let round = 0; round < 20; round += 1) {
      const [added, waits] = await pipelined(
        rig.pool,
        [
          plain(`insert into work.queue_item values (gen_random_uuid(), 'a', 1, now(), now())
            returning pg_current_wal_insert_lsn() as lsn`),
          plain("show synchronous_commit"),
        ],
        { unlockEarly: true },
      );
      expect(waits?.rows).toEqual([{ synchronous_commit: "off" }]);
      const [flushed] = await rig.sql("select pg_current_wal_flush_lsn() > $1::pg_lsn as flushed", [
        added?.rows[0].lsn,
      ]);
      expect(flushed).toEqual({ flushed: true });
    }
    expect(await rig.sql("select count(*)::int as items from work.queue_item")).toEqual([{ items: 20 }]);
    const [after] = await pipelined(rig.pool, [plain("show synchronous_commit")]);
    expect(after?.rows).toEqual([{ synchronous_commit: "on" }]);
  });

  it("a transaction that unlocks early and fails has no effect, and its connection still works", async () => {
    const insert = plain("insert into work.queue_item values (gen_random_uuid(), 'a', 1, now(), now())");
    for (let round = 0; round < 6; round += 1) {
      const failing = pipelined(rig.pool, [insert, plain("select nonsense")], { unlockEarly: true });
      await expect(failing).rejects.toThrow(/nonsense/);
    }
    expect(await rig.sql("select * from work.queue_item")).toEqual([]);
    const [row] = await pipelined(rig.pool, [plain("select 1 as one")], { unlockEarly: true });
    expect(row?.rows).toEqual([{ one: 1 }]);
  });

  it("a connection that breaks during a transaction is replaced", async () => {
    const kill = { name: "", text: "select pg_terminate_backend(pg_backend_pid())", values: [] };
    await expect(pipelined(rig.pool, [kill, { name: "", text: "select 1", values: [] }])).rejects.toThrow();
    const [row] = await pipelined(rig.pool, [{ name: "", text: "select 1 as one", values: [] }]);
    expect(row?.rows).toEqual([{ one: 1 }]);
  });
});
