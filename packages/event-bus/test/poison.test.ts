import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { TryLaterError } from "../src/handle-batch.ts";
import { consumeRig, DURABLE } from "./consume-rig.ts";

test("a message that fails is delivered again until it is handled, and later messages are handled meanwhile", async () => {
  await using rig = await consumeRig();
  const handled: string[] = [];
  let deliveries = 0;
  let fixed = false;
  void rig.consume({
    async handle(messages) {
      const texts = messages.map((message) => message.string());
      for (const message of messages)
        if (message.string() === "stuck") deliveries = Math.max(deliveries, message.info.deliveryCount);
      if (texts.includes("stuck") && !fixed) throw new Error("timeout");
      handled.push(...texts);
    },
  });
  await rig.publish("stuck", "behind-1", "behind-2");
  await eventually(() => expect(handled.toSorted()).toEqual(["behind-1", "behind-2"]));
  await eventually(() => deliveries >= 5);
  expect(await rig.left()).toBe(1);
  fixed = true;
  await eventually(async () => expect(await rig.left()).toBe(0));
});

test("while everything fails, a batch costs few attempts, not one for each message", async () => {
  await using rig = await consumeRig();
  await rig.publish(...Array.from({ length: 64 }, (_, index) => String(index)));
  const unacknowledged = async () => (await rig.bus.jsm.consumers.info("RECORDS", DURABLE)).num_ack_pending;
  const sizes: number[] = [];
  let first = true;
  const stop = new AbortController();
  await rig.consume({
    maxMessages: 64,
    ackWaitMs: 60_000,
    signal: stop.signal,
    async handle(messages) {
      // The first batch may be small; a large one collects behind it.
      if (first) {
        first = false;
        await eventually(async () => expect(await unacknowledged()).toBe(64));
        return;
      }
      sizes.push(messages.length);
      stop.abort();
      throw new Error("the database is down");
    },
  });
  expect(sizes[0]).toBeGreaterThanOrEqual(4);
  expect(sizes.filter((size) => size === 1).length).toBeLessThanOrEqual(2);
  expect(sizes.length).toBeLessThanOrEqual(12);
  expect(await rig.left()).toBeGreaterThanOrEqual(sizes[0] ?? Number.NaN);
});

test("a batch that is to be tried later is not split, and is handled once the reason is gone", async () => {
  await using rig = await consumeRig();
  const payloads = Array.from({ length: 30 }, (_, index) => `text-${index}`);
  await rig.publish(...payloads);
  const refused: string[] = [];
  const handled: string[] = [];
  let isFull = true;
  void rig.consume({
    async handle(messages) {
      const texts = messages.map((message) => `${message.string()}, delivery ${message.info.deliveryCount}`);
      if (!isFull) return void handled.push(...messages.map((message) => message.string()));
      refused.push(...texts);
      throw new TryLaterError("another stream is full", new Error("maximum bytes exceeded"));
    },
  });
  await eventually(() => refused.some((text) => text.endsWith("delivery 3")));
  isFull = false;
  await eventually(async () => expect(await rig.left()).toBe(0));
  expect(handled.toSorted()).toEqual(payloads.toSorted());
  // No delivery of a message was tried more than once.
  expect(new Set(refused).size).toBe(refused.length);
  expect(rig.errors.every((error) => error instanceof TryLaterError)).toBe(true);
});
