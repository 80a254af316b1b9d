import { create } from "@bufbuild/protobuf";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { ChatEventSchema } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers";
import { expect, test } from "vitest";
import { errorEvent } from "../../src/domain/chat-event.ts";
import { createPublishEvents, followEvents } from "../../src/turns/live-events.ts";

const CHAT = 7;

const event = (id: number) =>
  create(ChatEventSchema, { id: BigInt(id), event: errorEvent({ code: "X", message: "" }) });

function follow(bus: Bus) {
  const ids: number[] = [];
  const follower = followEvents(bus, CHAT, ({ events }) => ids.push(...events.map(({ id }) => Number(id))));
  return { ids, leave: () => follower[Symbol.dispose]() };
}

test("each follower gets each event once, in the process that publishes it without a round trip, until it leaves", async () => {
  await using server = await testNats();
  await using own = await connectBus({ servers: server.url, name: "own" });
  await using other = await connectBus({ servers: server.url, name: "other" });
  const [near, leaving, far] = [follow(own), follow(own), follow(other)];
  await Promise.all([own.nc.flush(), other.nc.flush()]);
  const [publish, publishFar] = [createPublishEvents(own), createPublishEvents(other)];
  publish(CHAT, "t", [event(1), event(2)]);
  expect([near.ids, leaving.ids]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  leaving.leave();
  publish(CHAT, "t", [event(3)]);
  publish(CHAT + 1, "t", [event(4)]);
  await eventually(() => far.ids.length === 3);
  publishFar(CHAT, "t", [event(5)]);
  await eventually(() => near.ids.length === 4);
  expect([near.ids, leaving.ids, far.ids]).toEqual([
    [1, 2, 3, 5],
    [1, 2],
    [1, 2, 3, 5],
  ]);
  near.leave();
  far.leave();
  publish(CHAT, "t", [event(6)]);
  expect(near.ids).toHaveLength(4);
});

test("followers in the process get events while the broker is down", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: server.url, name: "own" });
  const { ids } = follow(bus);
  await bus.nc.close();
  createPublishEvents(bus)(CHAT, "t", [event(1)]);
  expect(ids).toEqual([1]);
});
