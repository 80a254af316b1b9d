import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { ensureStreams } from "@toolgate/event-bus/streams";
import { AttemptBatchSchema, AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { SafeFetchResult } from "@toolgate/safe-fetch/result";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers/servers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SLOW_ATTEMPT_MS } from "../src/domain/outcome.ts";
import { runWorker } from "../src/worker/worker.ts";

/** A timer may fire this much early. */
const TIMER_MS = 50;
const FAILING = 7n;
const NOTHING_READ = { headers: {}, body: Buffer.alloc(0), truncated: false, timings: { totalMs: 1 } };

describe("a worker", () => {
  let resources: AsyncDisposableStack;
  let bus: Bus;
  let stopping: AbortController;
  let begun: string[];
  let late: number[];
  let release: () => void;
  let released: Promise<void>;
  /** The results that it has reported: what was made, and what was not. */
  let reported: { made: string[]; notMade: string[] };

  beforeEach(async () => {
    resources = new AsyncDisposableStack();
    const nats = resources.use(await testNats());
    bus = resources.use(await connectBus({ servers: nats.url, name: "worker-test" }));
    await ensureStreams(bus);
    stopping = new AbortController();
    begun = [];
    late = [];
    reported = { made: [], notMade: [] };
    ({ promise: released, resolve: release } = Promise.withResolvers<void>());
    bus.nc.subscribe("attempts.done", {
      callback(_error, message) {
        for (const { deliveryId, givenBackNotAfterMs } of fromBinary(AttemptResultBatchSchema, message.data).results)
          reported[givenBackNotAfterMs === 0n ? "made" : "notMade"].push(deliveryId);
      },
    });
  });
  afterEach(() => resources.disposeAsync());

  function start(concurrency: number): void {
    const send = async ({ url, reuseKey }: { url: string; reuseKey?: string }) => {
      begun.push(url);
      await released;
      const status = reuseKey === String(FAILING) ? 500 : 200;
      return { kind: "response", status, ...NOTHING_READ } as unknown as SafeFetchResult;
    };
    const running = runWorker({
      bus,
      safeFetch: { send },
      concurrency,
      attemptDeadlineMs: 10_000,
      now: () => new Date(),
      signal: stopping.signal,
      onError: () => {},
      onTooLate: (count) => late.push(count),
    });
    resources.defer(async () => {
      stopping.abort();
      release();
      await running;
    });
  }

  /** One message with each in a series of its own, but all those from an index on in one. */
  async function publish(ids: string[], seriesFrom = ids.length, endpointId = 1n): Promise<void> {
    const notAfterMs = BigInt(Date.now() + 30_000);
    const attempts = ids.map((id, index) => ({
      deliveryId: id,
      endpointId: index < seriesFrom ? BigInt(100 + index) : endpointId,
      url: id,
      number: 1,
      notAfterMs: id.startsWith("late") ? 1n : notAfterMs,
    }));
    await bus.js.publish("attempts.send", toBinary(AttemptBatchSchema, create(AttemptBatchSchema, { attempts })));
  }

  const consumer = () => bus.jsm.consumers.info("ATTEMPTS", "outbound-webhook-workers");

  it("[FAIR] takes no more attempts than it can make at the same time, so that another worker can make them", async () => {
    for (let index = 0; index < 20; index += 1) await publish([`${index}`]);
    start(2);
    await eventually(() => begun.length === 2);
    await bus.nc.flush();
    const { num_ack_pending, num_pending } = await consumer();
    // Those under way, the next one, and two in the client.
    expect(num_ack_pending + num_pending).toBeGreaterThanOrEqual(20 - 5);
  });

  it("[FAIR-3] makes the attempts at one endpoint that share a message one after the other", async () => {
    start(4);
    await publish(["d", "a", "b", "c"], 1);
    await eventually(() => begun.length === 2);
    expect(begun).toEqual(["d", "a"]);
    release();
    await eventually(() => reported.made.length === 4);
    expect(begun).toEqual(["d", "a", "b", "c"]);
  });

  it("[FAIR] after one that fails or takes as long as a slow one, makes no more of them", async () => {
    start(4);
    release();
    await publish(["a", "b", "c"], 0, FAILING);
    await eventually(() => reported.notMade.length === 2);
    expect([begun, reported]).toEqual([["a"], { made: ["a"], notMade: ["b", "c"] }]);
    ({ promise: released, resolve: release } = Promise.withResolvers<void>());
    await publish(["d", "e"], 0);
    await eventually(() => begun.includes("d"));
    setTimeout(release, SLOW_ATTEMPT_MS + TIMER_MS);
    await eventually(() => reported.notMade.includes("e"));
    expect(reported.made).toEqual(["a", "d"]);
  });

  it("[OUT-57] that stops returns the attempts that have not begun", async () => {
    start(1);
    await publish(["a", "b", "c", "d"], 2);
    await eventually(() => begun.length === 1);
    stopping.abort();
    release();
    await eventually(() => reported.notMade.length === 3);
    // The first of a series comes last, because it frees the slot.
    expect([begun, reported.notMade]).toEqual([["a"], ["b", "d", "c"]]);
  });

  it("[OUT-57] leaves attempts that another worker had before to their leases, because they may have been made", async () => {
    await bus.jsm.consumers.add("ATTEMPTS", {
      durable_name: "outbound-webhook-workers",
      filter_subject: "attempts.send",
      ack_policy: "explicit",
    });
    await publish(["a", "b"]);
    const taken = await (await bus.js.consumers.get("ATTEMPTS", "outbound-webhook-workers")).next();
    taken?.nak();
    release();
    start(4);
    await eventually(async () => (await consumer()).num_ack_pending === 0);
    await publish(["c"]);
    await eventually(() => reported.made.length > 0);
    expect(begun).toEqual(["c"]);
  });

  it("[OUT] reports attempts that are too late, and makes the others", async () => {
    release();
    await publish(["late 1", "in time", "late 2"]);
    start(4);
    await eventually(() => late.length === 2);
    expect(begun).toEqual(["in time"]);
  });
});
