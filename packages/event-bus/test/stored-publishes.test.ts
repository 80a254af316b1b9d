import { JetStreamApiError } from "@nats-io/jetstream";
import { errors, PermissionViolationError } from "@nats-io/transport-node";
import { testNats } from "@toolgate/testbed/servers";
import { startTcpProxy } from "@toolgate/testbed/tcp-proxy";
import { expect, test } from "vitest";
import { connectBus } from "../src/connect.ts";
import { ensureStreams } from "../src/streams.ts";
import { storedMessages } from "./stored-messages.ts";

const LONG_MS = 600_000;
const message = (subject: string, text: string) => ({ subject, data: new TextEncoder().encode(text), id: text });

test("of many publishes at once each gets its own acknowledgement", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: server.url, name: "test" });
  await ensureStreams(bus);
  const texts = Array.from({ length: 200 }, (_, number) => `message ${number}`);
  const subjectOf = (number: number) => (number % 4 === 0 ? "nowhere" : "records.test");
  const outcomes = await Promise.allSettled(
    texts.map((text, number) => bus.store(message(subjectOf(number), text), LONG_MS)),
  );
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(50);
  for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toBeInstanceOf(errors.NoRespondersError);
  const wanted = texts.filter((_, number) => outcomes[number]?.status === "fulfilled");
  expect((await storedMessages(bus, "RECORDS")).toSorted()).toEqual(wanted.toSorted());
});

test("what the login may not publish, and what the stream refuses, is rejected without waiting for the time limit", async () => {
  await using server = await testNats();
  await using owner = await connectBus({ servers: server.url, name: "owner" });
  await ensureStreams(owner);
  await using gateway = await connectBus({ servers: server.urls.gateway ?? "", name: "gateway" });
  const kept = gateway.store(message("records.usage", "allowed"), LONG_MS);
  await expect(gateway.store(message("records.audit", "forbidden"), LONG_MS)).rejects.toBeInstanceOf(
    PermissionViolationError,
  );
  await kept;
  const { config } = await owner.jsm.streams.info("RECORDS");
  await owner.jsm.streams.update("RECORDS", { ...config, max_msg_size: 10 });
  await expect(owner.store(message("records.test", "longer than ten bytes"), LONG_MS)).rejects.toBeInstanceOf(
    JetStreamApiError,
  );
});

test("without an acknowledgement a publish ends at its time limit, or as soon as the connection breaks", async () => {
  await using server = await testNats();
  await using proxy = await startTcpProxy(server.url);
  await using owner = await connectBus({ servers: server.url, name: "owner" });
  await ensureStreams(owner);
  await using bus = await connectBus({ servers: proxy.url, name: "test" });
  proxy.loseResponses();
  await expect(bus.store(message("records.test", "late"), 200)).rejects.toBeInstanceOf(errors.TimeoutError);
  const waiting = bus.store(message("records.test", "cut"), LONG_MS);
  const broken = expect(waiting).rejects.toThrow("lost connection to NATS");
  await server.kill();
  await broken;
});
