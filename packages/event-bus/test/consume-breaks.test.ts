import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { connectBus } from "../src/connect.ts";
import { consumeRig, DURABLE, numbers } from "./consume-rig.ts";

test.each([{ remakeAfterBreak: false }, { remakeAfterBreak: true }])(
  "every message is handled, over kills of the broker: %o",
  async ({ remakeAfterBreak }) => {
    await using rig = await consumeRig();
    const handled = new Set<string>();
    void rig.consume({
      remakeAfterBreak,
      async handle(messages) {
        await sleep(2);
        for (const message of messages) handled.add(message.string());
      },
    });
    for (let round = 0; round < 3; round += 1) {
      const publishing = rig.publish(...numbers(60, round * 60));
      await eventually(() => handled.size > round * 60 + 10);
      await rig.server.kill();
      await rig.server.restart();
      await publishing;
    }
    await eventually(() => expect(handled.size).toBe(180));
    // A killed broker may keep messages that were acknowledged; only a new consumer removes them from the stream.
    if (remakeAfterBreak) await eventually(async () => expect(await rig.left()).toBe(0));
  },
);

test("continues after a wipe, and acknowledges no new message in place of a lost one", async () => {
  await using rig = await consumeRig();
  const gate = Promise.withResolvers<void>();
  const [first, second] = [[] as string[], new Set<string>()];
  const oneStops = new AbortController();
  const one = rig.consume({
    signal: oneStops.signal,
    maxMessages: 1,
    async handle([message]) {
      first.push(message?.string() ?? "");
      await gate.promise;
    },
  });
  await rig.publish("lost");
  await eventually(() => expect(first).toEqual(["lost"]));
  await rig.server.wipe();
  // Another replica takes new messages, of which the first has the number of the lost one, but not all of them.
  await using otherBus = await connectBus({ servers: rig.server.url, name: "other" });
  const never = Promise.withResolvers<void>();
  void rig.consume({
    bus: otherBus,
    maxMessages: 2,
    ackWaitMs: 600_000,
    async handle(messages) {
      for (const message of messages) second.add(message.string());
      await never.promise;
    },
  });
  await eventually(() => rig.bus.isConnected());
  let extended = 0;
  otherBus.nc.subscribe(`$JS.ACK.RECORDS.${DURABLE}.>`, {
    callback() {
      extended += 1;
    },
  });
  await rig.publish(...numbers(20));
  // The second extends its messages only after minutes, so the first has a new one too.
  await eventually(() => extended > 0);
  oneStops.abort();
  gate.resolve();
  await one;
  await rig.bus.nc.flush();
  expect(first).toEqual(["lost"]);
  expect(await rig.left()).toBe(20);
  never.resolve();
  await eventually(async () => expect(await rig.left()).toBe(0));
  expect([...second].toSorted()).toEqual(numbers(20).toSorted());
});

test("a consumer that is created again after a break gets unacknowledged messages immediately", async () => {
  await using rig = await consumeRig();
  const [first, again] = [new Set<string>(), [] as string[]];
  void rig.consume({
    ackWaitMs: 60_000,
    remakeAfterBreak: true,
    async handle(messages) {
      const isFirst = first.size === 0;
      for (const message of messages) isFirst ? first.add(message.string()) : again.push(message.string());
      if (isFirst) await rig.server.kill().then(() => rig.server.restart());
    },
  });
  await rig.publish(...numbers(5));
  await eventually(() => expect(new Set([...first, ...again]).size).toBe(5));
  await eventually(() => expect(again).toEqual(expect.arrayContaining([...first])));
  await eventually(async () => expect(await rig.unfinished()).toBe(0));
});

test("stops while the broker is down", async () => {
  await using rig = await consumeRig();
  const stop = new AbortController();
  const done = rig.consume({ signal: stop.signal, handle: async () => {} });
  await rig.server.kill();
  await eventually(() => !rig.bus.isConnected());
  stop.abort();
  await done;
});
