import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers/servers";
import { startTcpProxy } from "@toolgate/testbed/servers/tcp-proxy";
import { expect, test } from "vitest";
import { createBatchingPublisher, MAX_MESSAGE_BYTES, publishDurably } from "../src/batching-publisher.ts";
import { type Bus, connectBus } from "../src/connect.ts";
import { ensureStreams, streamOf } from "../src/streams.ts";

const text = new TextEncoder();

/** The payloads in the stream RECORDS, as text, in order. */
async function storedMessages(bus: Bus): Promise<string[]> {
  const { state } = await bus.jsm.streams.info("RECORDS");
  const payloads: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await bus.jsm.streams.getMessage("RECORDS", { seq }).catch(() => null);
    if (message) payloads.push(new TextDecoder().decode(message.data));
  }
  return payloads;
}

/** Publishes one message after the other until `stop`; those whose publish resolved are in `written`. */
function publishOnAndOn(bus: Bus) {
  const written: string[] = [];
  const stop = new AbortController();
  const lane = async (name: string) => {
    for (let count = 0; !stop.signal.aborted; count += 1) {
      const payload = `${name}-${count}`;
      await publishDurably(bus, "records.test", text.encode(payload), 30_000);
      written.push(payload);
      await sleep(1);
    }
  };
  const lanes = ["a", "b", "c", "d"].map(lane);
  return {
    written,
    async stop() {
      stop.abort();
      await Promise.all(lanes);
    },
  };
}

test("a message that was written although its acknowledgement was lost is not written again", async () => {
  await using server = await testNats();
  await using proxy = await startTcpProxy(server.url);
  await using observer = await connectBus({ servers: server.url, name: "observer" });
  await using bus = await connectBus({ servers: proxy.url, name: "test" });
  await ensureStreams(observer);
  proxy.loseResponses();
  const publishing = publishDurably(bus, "records.test", text.encode("once"), 30_000);
  await eventually(async () => expect(await storedMessages(observer)).toEqual(["once"]));
  proxy.cut();
  await publishing;
  expect(await storedMessages(observer)).toEqual(["once"]);
});

test("after a wipe the stream is created again, and publishing continues", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: server.url, name: "test" });
  await ensureStreams(bus);
  const publishing = publishOnAndOn(bus);
  await eventually(() => publishing.written.length > 40);
  await server.wipe();
  const atWipe = publishing.written.length;
  await eventually(() => publishing.written.length > atWipe + 40);
  await publishing.stop();
  const stored = new Set(await storedMessages(bus));
  // Messages on their way at the wipe may have been written before it.
  const afterWipe = publishing.written.slice(atWipe + 4);
  expect(afterWipe.filter((payload) => !stored.has(payload))).toEqual([]);
});

test("fails at its deadline while the broker is down, and publishes again once it is back", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: server.url, name: "test" });
  await ensureStreams(bus);
  await server.kill();
  const patient = publishDurably(bus, "records.test", text.encode("kept"), 60_000);
  const hasty = publishDurably(bus, "records.test", text.encode("lost"), 300);
  await expect(Promise.race([patient, hasty])).rejects.toThrow(/connect/);
  await expect(hasty).rejects.toThrow(/connect/);
  await server.restart();
  await patient;
  expect(await storedMessages(bus)).toEqual(["kept"]);
});

test("what waits for a batch fails at its own deadline, counted from when it was added", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: server.url, name: "test" });
  await server.kill();
  await using publisher = createBatchingPublisher<string>({
    bus,
    subject: "records.test",
    encode: (items) => text.encode(items.join(",")),
    sizeOf: (item) => item.length,
    maxItems: 1,
    deadlineMs: 400,
  });
  const startedAt = performance.now();
  const outcomes = await Promise.allSettled(Array.from({ length: 200 }, (_, index) => publisher.add(String(index))));
  expect(outcomes.every((outcome) => outcome.status === "rejected")).toBe(true);
  // Two at a time with a full deadline each would take 40 s.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
});

test("a message that the broker can never take is refused immediately", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: server.url, name: "test" });
  const failure = publishDurably(bus, "records.test", new Uint8Array(2 * 1024 * 1024), 60_000);
  await expect(failure).rejects.toThrow("max_payload");
});

test("a batch that is larger than its items' stated sizes is split", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: server.url, name: "test" });
  await using publisher = createBatchingPublisher<string>({
    bus,
    subject: "records.test",
    encode: (items) => text.encode(items.join("")),
    sizeOf: () => 1,
  });
  const item = "x".repeat(MAX_MESSAGE_BYTES / 2);
  await Promise.all(Array.from({ length: 6 }, () => publisher.add(item)));
  const stored = await storedMessages(bus);
  expect(stored.join("").length).toBe(6 * item.length);
  expect(Math.max(...stored.map((message) => message.length))).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
});

test("a closed bus refuses to publish, and closing does not wait for a broker that is down", async () => {
  await using server = await testNats();
  const bus = await connectBus({ servers: server.url, name: "test" });
  await server.kill();
  await eventually(() => !bus.isConnected());
  await bus[Symbol.asyncDispose]();
  await expect(publishDurably(bus, "records.test", text.encode("x"), 30_000)).rejects.toThrow(/connect|closed/);
});

test("closing sends what was published just before", async () => {
  await using server = await testNats();
  await using reader = await connectBus({ servers: server.url, name: "reader" });
  const received: string[] = [];
  reader.nc.subscribe("wake", { callback: (_, message) => void received.push(message.string()) });
  await reader.nc.flush();
  const bus = await connectBus({ servers: server.url, name: "test" });
  bus.nc.publish("wake", "last word");
  await bus[Symbol.asyncDispose]();
  await eventually(() => expect(received).toEqual(["last word"]));
});

test("a subject that no stream stores is refused", () => {
  expect(streamOf("events.tool-runner")).toBe("EVENTS");
  expect(streamOf("calls.record")).toBe("CALLS");
  expect(() => streamOf("eventsx.a")).toThrow("no stream stores");
});
