import type { JsMsg } from "@nats-io/jetstream";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { consumeEach, type MessageUnderWay } from "../src/consume-each.ts";
import { consumeRig, DURABLE, numbers, SUBJECT } from "./consume-rig.ts";

type Rig = Awaited<ReturnType<typeof consumeRig>>;

const underWay = (done: Promise<void>): MessageUnderWay => ({ done, room: undefined });

function consume({ bus, errors }: Rig, handle: (message: JsMsg) => MessageUnderWay) {
  const stop = new AbortController();
  const done = consumeEach({
    bus,
    stream: "RECORDS",
    durable: DURABLE,
    filterSubject: SUBJECT,
    maxMessages: 4,
    ackWaitMs: 2_000,
    maxAckPending: 256,
    signal: stop.signal,
    onError: (error) => errors.push(error),
    handle,
  });
  async function end(): Promise<void> {
    stop.abort();
    await done;
  }
  return { stop, done, end, [Symbol.asyncDispose]: end };
}

test("a message that is not done delays no other, and is acknowledged only when it is", async () => {
  await using rig = await consumeRig();
  const [gate, seen] = [Promise.withResolvers<void>(), [] as string[]];
  await using _ = consume(rig, (message) => {
    seen.push(message.string());
    return underWay(message.string() === "0" ? gate.promise : Promise.resolve());
  });
  await rig.publish(...numbers(40));
  await eventually(async () => expect(await rig.left()).toBe(1));
  expect(seen).toEqual(numbers(40));
  gate.resolve();
  await eventually(async () => expect(await rig.left()).toBe(0));
});

test("no message is taken while there is no room", async () => {
  await using rig = await consumeRig();
  const [room, seen] = [Promise.withResolvers<void>(), [] as string[]];
  await using _ = consume(rig, (message) => {
    seen.push(message.string());
    return { done: Promise.resolve(), room: seen.length === 3 ? room.promise : undefined };
  });
  await rig.publish(...numbers(10));
  // Those in the client are taken when there is room, so they stay unacknowledged.
  await eventually(async () => expect(await rig.left()).toBe(7));
  expect(seen).toEqual(numbers(3));
  room.resolve();
  await eventually(async () => expect(await rig.left()).toBe(0));
});

test("a message that is refused is delivered again, and the others are not", async () => {
  await using rig = await consumeRig();
  const seen: string[] = [];
  await using _ = consume(rig, (message) => {
    seen.push(message.string());
    const isRefused = message.string() === "1" && seen.filter((text) => text === "1").length < 3;
    return underWay(isRefused ? Promise.reject(new Error("not now")) : Promise.resolve());
  });
  await rig.publish(...numbers(5));
  await eventually(async () => expect(await rig.left()).toBe(0));
  expect(seen.toSorted()).toEqual(["0", "1", "1", "1", "2", "3", "4"]);
});

test("when it stops, what is refused goes back to the broker, and another process gets it", async () => {
  await using rig = await consumeRig();
  const [gate, seen, received] = [Promise.withResolvers<void>(), [] as string[], [] as string[]];
  const take = (into: string[], done: Promise<void>) => (message: JsMsg) => {
    into.push(message.string());
    return underWay(done);
  };
  const stopping = consume(rig, take(seen, gate.promise));
  await rig.publish(...numbers(3));
  await eventually(() => expect(seen).toEqual(numbers(3)));
  stopping.stop.abort();
  gate.reject(new Error("stopping"));
  await stopping.done;
  expect(await rig.left()).toBe(3);
  await using _ = consume(rig, take(received, Promise.resolve()));
  await eventually(async () => expect(await rig.left()).toBe(0));
  expect(new Set(received)).toEqual(new Set(numbers(3)));
});

test("a message of a wiped broker is never acknowledged in place of a new one", async () => {
  await using rig = await consumeRig();
  const gates = new Map(["old", "new"].map((text) => [text, Promise.withResolvers<void>()]));
  const seen: string[] = [];
  await using _ = consume(rig, (message) => {
    seen.push(message.string());
    return underWay(gates.get(message.string())?.promise ?? Promise.resolve());
  });
  await rig.publish("old");
  await eventually(() => expect(seen).toEqual(["old"]));
  await rig.server.wipe();
  await eventually(() => rig.bus.isConnected());
  await rig.publish("new");
  await eventually(() => expect(seen).toEqual(["old", "new"]));
  gates.get("old")?.resolve();
  // When this one is acknowledged, the broker has got an acknowledgement of the old one, if there was any.
  await rig.publish("last");
  await eventually(() => expect(seen).toEqual(["old", "new", "last"]));
  await eventually(async () => expect(await rig.left()).toBe(1));
  gates.get("new")?.resolve();
  await eventually(async () => expect(await rig.left()).toBe(0));
});
