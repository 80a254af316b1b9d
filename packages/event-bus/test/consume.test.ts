import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { connectBus } from "../src/connect.ts";
import { consumeRig, DURABLE, numbers } from "./consume-rig.ts";

test("a message is acknowledged only after it was handled, and its ack deadline is extended during slow handling", async () => {
  await using rig = await consumeRig();
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  let signsOfWork = 0;
  rig.bus.nc.subscribe(`$JS.ACK.RECORDS.${DURABLE}.>`, {
    callback(_, message) {
      if (message.string() === "+WPI") signsOfWork += 1;
    },
  });
  void rig.consume({
    ackWaitMs: 3_000,
    async handle(messages) {
      seen.push(...messages.map((message) => message.string()));
      await gate.promise;
    },
  });
  await rig.publish("a", "b", "c");
  // The last two wait for the current batch; the broker must not send them twice.
  await eventually(() => seen.length > 0);
  // Each message is extended every 1.5 s, so 9 extensions of three messages take longer than their 3 s.
  await eventually(() => expect(signsOfWork).toBeGreaterThanOrEqual(9));
  expect(await rig.left()).toBe(3);
  gate.resolve();
  await eventually(async () => expect(await rig.left()).toBe(0));
  expect(seen).toEqual(["a", "b", "c"]);
});

test("of a handled batch, only the messages that its handler names are delivered again", async () => {
  await using rig = await consumeRig();
  const gate = Promise.withResolvers<void>();
  const times = new Map<string, number>();
  const isBusy = (text: string) => Number(text) % 3 === 0;
  void rig.consume({
    async handle(messages, again) {
      await gate.promise;
      for (const message of messages) {
        const text = message.string();
        const before = times.get(text) ?? 0;
        times.set(text, before + 1);
        if (isBusy(text) && before === 0) again.add(message);
      }
    },
  });
  await rig.publish(...numbers(10));
  // The first one waits, so that the others become one batch.
  await eventually(async () => expect((await rig.bus.jsm.consumers.info("RECORDS", DURABLE)).num_pending).toBe(0));
  gate.resolve();
  await eventually(async () => expect(await rig.left()).toBe(0));
  expect(Object.fromEntries(times)).toEqual(
    Object.fromEntries(numbers(10).map((text) => [text, isBusy(text) ? 2 : 1])),
  );
  expect(rig.errors).toEqual([]);
});

test("a batch that keeps failing is delivered again until it is handled, as often as its consumer asks for", async () => {
  await using rig = await consumeRig();
  // With the usual waits these would take longer than the test waits.
  const deliveries = 40;
  const handled: string[] = [];
  void rig.consume({
    maxRedeliverWaitMs: 10,
    async handle(messages) {
      if (messages.some(({ info }) => info.deliveryCount < deliveries)) throw new Error("the database is down");
      handled.push(...messages.map((message) => message.string()));
    },
  });
  await rig.publish(...numbers(10));
  await eventually(async () => expect(await rig.left()).toBe(0));
  expect(handled.toSorted()).toEqual(numbers(10));
  expect(rig.errors.length).toBeGreaterThanOrEqual(deliveries - 1);
});

test("ends after the current batch, and returns the waiting messages", async () => {
  await using rig = await consumeRig();
  const [gate, stop] = [Promise.withResolvers<void>(), new AbortController()];
  let current: string[] = [];
  let ended = false;
  const done = rig
    .consume({
      signal: stop.signal,
      ackWaitMs: 60_000,
      maxMessages: 4,
      async handle(messages) {
        current = messages.map((message) => message.string());
        await gate.promise;
      },
    })
    .then(() => {
      ended = true;
    });
  await rig.publish(...numbers(20));
  await eventually(() => current.length > 0);
  stop.abort();
  await rig.bus.nc.flush();
  expect(ended).toBe(false);
  gate.resolve();
  await done;
  expect(await rig.left()).toBe(20 - current.length);
  const rest = new Set<string>();
  void rig.consume({
    ackWaitMs: 60_000,
    async handle(messages) {
      for (const message of messages) rest.add(message.string());
    },
  });
  await eventually(() => expect(rest.size).toBe(20 - current.length));
});

test("a new version's settings reach a consumer that exists", async () => {
  await using rig = await consumeRig();
  const stop = new AbortController();
  const handle = async () => {};
  const old = rig.consume({ handle, signal: stop.signal, maxAckPending: 10 });
  const setting = async () => (await rig.bus.jsm.consumers.info("RECORDS", DURABLE)).config.max_ack_pending;
  await eventually(async () => expect(await setting()).toBe(10));
  stop.abort();
  await old;
  void rig.consume({ handle, maxAckPending: 20 });
  await eventually(async () => expect(await setting()).toBe(20));
});

test("takes no more messages than a few batches while one is handled", async () => {
  await using rig = await consumeRig();
  await rig.publish(...numbers(200));
  const gate = Promise.withResolvers<void>();
  let handling = false;
  void rig.consume({
    maxMessages: 10,
    ackWaitMs: 60_000,
    async handle() {
      handling = true;
      await gate.promise;
    },
  });
  await eventually(() => handling);
  const pending = async () => (await rig.bus.jsm.consumers.info("RECORDS", DURABLE)).num_ack_pending;
  await eventually(async () => {
    const before = await pending();
    await rig.bus.nc.flush();
    return before > 10 && before === (await pending());
  });
  expect(await pending()).toBeLessThanOrEqual(40);
  gate.resolve();
  await eventually(async () => expect(await rig.left()).toBe(0));
});

test("ends when the bus is closed, and immediately when the signal has fired before", async () => {
  await using rig = await consumeRig();
  const bus = await connectBus({ servers: rig.server.url, name: "closing" });
  const done = rig.consume({ bus, handle: async () => {} });
  await eventually(async () => expect((await rig.bus.jsm.consumers.info("RECORDS", DURABLE)).num_waiting).toBe(1));
  await bus[Symbol.asyncDispose]();
  await done;
  await rig.consume({ signal: AbortSignal.abort(), handle: async () => {} });
});
