import { create, toBinary } from "@bufbuild/protobuf";
import { ChatEventsSchema } from "@toolgate/gen/toolgate/chat/v1/chat_events_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { type TestServer, testNats } from "@toolgate/testbed/servers/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatEventsSubject, followChat } from "../src/chat-events.ts";
import { connectBus } from "../src/connect.ts";

const CHAT = { workspaceId: "w", chatId: "c" };

let nats: TestServer;
beforeAll(async () => {
  nats = await testNats();
});
afterAll(() => nats[Symbol.asyncDispose]());

/** A reader of the chat with a login of NATS. */
async function follow(servers: string | undefined) {
  const bus = await connectBus({ servers: servers ?? "", name: "test" });
  const turns: string[] = [];
  const errors: unknown[] = [];
  const receive = ({ turn }: { turn: string }) => {
    turns.push(turn);
    if (turn === "faulty") throw new Error("the reader fails");
  };
  const following = followChat(bus, CHAT, receive, (error) => errors.push(error));
  await following.subscribed;
  return { bus, turns, errors };
}

test("a message that cannot be read, or whose reader fails, is reported, and those after it arrive", async () => {
  const { bus, turns, errors } = await follow(nats.url);
  await using _ = bus;
  const publish = (bytes: Uint8Array) => bus.nc.publish(chatEventsSubject(CHAT), bytes);
  publish(Uint8Array.of(0xff));
  for (const turn of ["faulty", "next"]) publish(toBinary(ChatEventsSchema, create(ChatEventsSchema, { turn })));
  await eventually(() => expect(turns).toEqual(["faulty", "next"]));
  expect(errors).toEqual([expect.any(Error), new Error("the reader fails")]);
  expect(bus.isConnected()).toBe(true);
});

test("a login that may not read a chat's events is told that the server needs the current nats-users.conf", async () => {
  const { bus, errors } = await follow(nats.urls["key-auth"]);
  await using _ = bus;
  await eventually(() => expect(errors).toHaveLength(1));
  expect(String(errors[0])).toBe(
    `Error: this login may not subscribe to ${chatEventsSubject(CHAT)}; give the server the current nats-users.conf`,
  );
});
