import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { ensureStreams } from "@toolgate/event-bus/streams";
import { AttemptBatchSchema, AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SafeFetchResult } from "@toolgate/safe-fetch/result";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAttempts } from "../src/worker/make-attempts.ts";
import { runWorker } from "../src/worker/worker.ts";

const DONE: SafeFetchResult = { kind: "aborted" } as SafeFetchResult;

describe("a worker", () => {
  let resources: AsyncDisposableStack;
  let bus: Bus;
  let stopping: AbortController;
  let begun: string[];
  let late: number[];
  let release: () => void;
  let released: Promise<void>;

  beforeEach(async () => {
    resources = new AsyncDisposableStack();
    const nats = resources.use(await testNats());
    bus = resources.use(await connectBus({ servers: nats.url, name: "worker-test" }));
    await ensureStreams(bus);
    stopping = new AbortController();
    begun = [];
    late = [];
    ({ promise: released, resolve: release } = Promise.withResolvers<void>());
  });
  afterEach(() => resources.disposeAsync());

  function start(options: { concurrency: number; ackWaitMs?: number }): void {
    const send = async ({ url }: { url: string }) => {
      begun.push(url);
      await released;
      return DONE;
    };
    const { concurrency } = options;
    const now = () => new Date();
    const makeAttempt = createAttempts({ safeFetch: { send }, concurrency, attemptDeadlineMs: 10_000, now });
    const running = runWorker({
      bus,
      makeAttempt,
      signal: stopping.signal,
      onError: () => {},
      onTooLate: (count) => late.push(count),
      ...options,
    });
    resources.defer(async () => {
      stopping.abort();
      release();
      await running;
    });
  }

  function seeHandedBack(): string[] {
    const handedBack: string[] = [];
    bus.nc.subscribe("attempts.done", {
      callback(_error, message) {
        for (const { deliveryId, number, givenBackNotAfterMs } of fromBinary(AttemptResultBatchSchema, message.data)
          .results) {
          expect(number).toBe(0);
          expect(givenBackNotAfterMs).toBeGreaterThan(0n);
          handedBack.push(deliveryId);
        }
      },
    });
    return handedBack;
  }

  async function publish(...ids: string[]): Promise<void> {
    const notAfterMs = BigInt(Date.now() + 30_000);
    const attempts = ids.map((id) => ({
      deliveryId: id,
      url: id,
      number: 1,
      notAfterMs: id.startsWith("late") ? 1n : notAfterMs,
    }));
    await bus.js.publish("attempts.send", toBinary(AttemptBatchSchema, create(AttemptBatchSchema, { attempts })));
  }

  const consumer = () => bus.jsm.consumers.info("ATTEMPTS", "outbound-webhook-workers");

  it("[FAIR] takes no more attempts than it can make at the same time, so that another worker can make them", async () => {
    for (let index = 0; index < 20; index += 1) await publish(`${index}`);
    start({ concurrency: 2 });
    await eventually(() => begun.length === 2);
    await bus.nc.flush();
    const { num_ack_pending, num_pending } = await consumer();
    expect(num_ack_pending).toBeLessThanOrEqual(6);
    expect(num_ack_pending + num_pending).toBe(20);
  });

  it("[OUT-57] that stops hands back the attempts that have not begun", async () => {
    const handedBack = seeHandedBack();
    start({ concurrency: 1 });
    await publish("a", "b", "c");
    await eventually(() => begun.length === 1);
    stopping.abort();
    release();
    await eventually(() => handedBack.length === 2);
    expect([begun, handedBack]).toEqual([["a"], ["b", "c"]]);
  });

  it("[OUT-57] extends the ack deadline of its messages, so that no other worker makes their attempts", async () => {
    let told = 0;
    bus.nc.subscribe("$JS.ACK.ATTEMPTS.>", {
      callback(_error, message) {
        if (message.string() === "+WPI") told += 1;
      },
    });
    await publish("a", "b");
    start({ concurrency: 1, ackWaitMs: 1_000 });
    await eventually(() => told >= 6);
    expect((await consumer()).num_redelivered).toBe(0);
    expect(begun).toEqual(["a"]);
  });

  it("[OUT-57] hands back attempts that another worker had before, because they may have been made", async () => {
    const handedBack = seeHandedBack();
    await bus.jsm.consumers.add("ATTEMPTS", {
      durable_name: "outbound-webhook-workers",
      filter_subject: "attempts.send",
      ack_policy: "explicit",
      ack_wait: 500_000_000,
    });
    await publish("a", "b");
    await (await bus.js.consumers.get("ATTEMPTS", "outbound-webhook-workers")).next();
    release();
    start({ concurrency: 4, ackWaitMs: 500 });
    await eventually(() => handedBack.length === 2);
    expect(handedBack).toEqual(["a", "b"]);
    await publish("c");
    await eventually(() => begun.length > 0);
    expect(begun).toEqual(["c"]);
  });

  it("[OUT] reports attempts that are too late, once per message, and makes the others", async () => {
    release();
    await publish("late 1", "in time", "late 2");
    start({ concurrency: 4 });
    await eventually(() => late.length === 1);
    expect(late).toEqual([2]);
    expect(begun).toEqual(["in time"]);
  });
});
