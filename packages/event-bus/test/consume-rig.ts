import { testNats } from "@toolgate/testbed/servers/servers";
import { publishDurably } from "../src/batching-publisher.ts";
import { connectBus } from "../src/connect.ts";
import { type ConsumeBatchesOptions, consumeBatches } from "../src/consume.ts";
import { ensureStreams } from "../src/streams.ts";

export const SUBJECT = "records.test";
export const DURABLE = "test";

/** Payloads: numbers from `from` on, as text. */
export const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => String(from + index));

/** A broker, a bus, and consumers that run until they are stopped. */
export async function consumeRig() {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await testNats());
  const bus = resources.use(await connectBus({ servers: server.url, name: "test" }));
  await ensureStreams(bus);
  const errors: unknown[] = [];
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  const end = Promise.withResolvers<void>();
  resources.defer(async () => {
    stopping.abort();
    end.resolve();
    await Promise.all(running);
  });
  const owned = resources.move();
  return {
    server,
    bus,
    errors,
    /** Begins to consume; resolves when stopped. */
    consume(options: Pick<ConsumeBatchesOptions, "handle"> & Partial<ConsumeBatchesOptions>): Promise<void> {
      const done = consumeBatches({
        bus,
        stream: "RECORDS",
        durable: DURABLE,
        filterSubject: SUBJECT,
        maxMessages: 16,
        ackWaitMs: 2_000,
        maxAckPending: 256,
        signal: stopping.signal,
        onError: (error) => errors.push(error),
        ...options,
        // A test that has failed leaves its handlers waiting.
        handle: (...batch) => Promise.race([options.handle(...batch), end.promise]),
      });
      running.push(done);
      return done;
    },
    async publish(...payloads: string[]) {
      for (const payload of payloads) await publishDurably(bus, SUBJECT, new TextEncoder().encode(payload), 30_000);
    },
    async left(): Promise<number> {
      return (await bus.jsm.streams.info("RECORDS")).state.messages;
    },
    /** Messages that the consumer has not got, or has not acknowledged. */
    async unfinished(): Promise<number> {
      const { num_pending, num_ack_pending } = await bus.jsm.consumers.info("RECORDS", DURABLE);
      return num_pending + num_ack_pending;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
