import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { consumeRecords } from "../src/consume-records.ts";
import { consumeRig, DURABLE, SUBJECT } from "./consume-rig.ts";

test("[LOG-2] records are handed over in batches and acknowledged, with one consumer for all replicas", async () => {
  await using rig = await consumeRig();
  const sent = Array.from({ length: 150 }, (_, index) => `record ${index}`);
  await rig.publish(...sent);
  const stopping = new AbortController();
  const handled: string[] = [];
  let batches = 0;
  const replica = () =>
    consumeRecords({
      bus: rig.bus,
      durable: DURABLE,
      filterSubject: SUBJECT,
      signal: stopping.signal,
      onError: (error) => rig.errors.push(error),
      async handle(messages) {
        batches += 1;
        handled.push(...messages.map((message) => message.string()));
      },
    });
  const replicas = [replica(), replica()];
  try {
    await eventually(async () => {
      expect(handled.length).toBeGreaterThanOrEqual(sent.length);
      expect(await rig.unfinished()).toBe(0);
    });
    const { config } = await rig.bus.jsm.consumers.info("RECORDS", DURABLE);
    expect(config).toMatchObject({ max_ack_pending: 1_000, ack_wait: 30_000 * 1_000_000 });
  } finally {
    stopping.abort();
    await Promise.all(replicas);
  }
  expect(handled.sort()).toEqual(sent.sort());
  expect(batches).toBeLessThan(sent.length);
  expect(rig.errors).toEqual([]);
});
