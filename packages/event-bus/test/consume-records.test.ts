import { createPool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { consumeRecords } from "../src/consume-records.ts";
import { consumeRig, DURABLE, SUBJECT } from "./consume-rig.ts";

/** A database with a table for parked messages. */
async function parkingDatabase() {
  await using resources = new AsyncDisposableStack();
  const { url } = resources.use(await testDatabase());
  const pool = resources.adopt(createPool({ url, maxConnections: 2, applicationName: "test" }), (owned) => owned.end());
  await pool.query(`create schema subject; create table subject.parked_message (
    id bigint generated always as identity, parked_at timestamptz, subject text, reason text, payload bytea)`);
  const owned = resources.move();
  return { pool, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("[LOG-2] records that Postgres refuses for their data are parked one by one, as is a message that cannot be decoded, and the others are written", async () => {
  await using rig = await consumeRig();
  await using database = await parkingDatabase();
  await rig.publish("a", "b c refused d refused e", "unreadable", "f deep");
  let parkingFails = true;
  const stopping = new AbortController();
  const written = new Set<string>();
  const consuming = consumeRecords({
    bus: rig.bus,
    pool: database.pool,
    schema: "subject",
    durable: DURABLE,
    filterSubject: SUBJECT,
    signal: stopping.signal,
    onError: (error) => rig.errors.push(error),
    decode(data) {
      const text = Buffer.from(data).toString();
      if (text === "unreadable") throw new Error("no such format");
      return text.split(" ");
    },
    encode: (record) => Buffer.from(record),
    async beforeParking() {
      if (!parkingFails) return;
      parkingFails = false;
      throw new Error("the other stream is full");
    },
    async write(records) {
      if (records.includes("refused")) throw Object.assign(new Error("invalid text"), { code: "22021" });
      if (records.includes("deep")) throw Object.assign(new Error("nested too deeply"), { code: "54001" });
      for (const record of records) written.add(record);
    },
  });
  try {
    await eventually(async () => expect(await rig.unfinished()).toBe(0));
  } finally {
    stopping.abort();
    await consuming;
  }
  expect([...written].sort()).toEqual(["a", "b", "c", "d", "e", "f"]);
  const parked = await database.pool.query(
    "select subject, reason, payload from subject.parked_message order by reason",
  );
  const refused = { subject: SUBJECT, reason: "invalid text", payload: Buffer.from("refused") };
  const unreadable = { subject: SUBJECT, reason: "no such format", payload: Buffer.from("unreadable") };
  const deep = { subject: SUBJECT, reason: "nested too deeply", payload: Buffer.from("deep") };
  expect(parked.rows).toEqual([refused, refused, deep, unreadable]);
  expect(rig.errors.some((error) => String(error).includes("parked"))).toBe(true);
});
