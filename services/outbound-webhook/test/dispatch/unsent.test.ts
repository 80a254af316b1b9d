import { fromBinary } from "@bufbuild/protobuf";
import { createWakeUp } from "@toolgate/event-bus/wake-up";
import { type Attempt, AttemptBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { eventually } from "@toolgate/testbed/eventually";
import { startTcpProxy } from "@toolgate/testbed/tcp-proxy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAttemptSender } from "../../src/events/attempt-sender.ts";
import { runDispatcher } from "../../src/events/dispatcher.ts";
import { createApplyResults } from "../../src/store/deliveries/apply-results.ts";
import { createClaimStore } from "../../src/store/deliveries/claim.ts";
import { deliveryQueue } from "../../src/store/queue.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";
import { spawnService } from "./service-process.ts";

/** After this time an endpoint must get deliveries again, whichever process has died. A lease is 45 s. */
const SILENCE_MS = 10_000;
/** Longer than a test waits for anything while an attempt hangs. */
const ATTEMPT_MS = 30_000;
/** A process that starts. */
const TEST_MS = 180_000;
/** Two endpoints with two slots each, of which the workspace's five are enough. */
const EVENTS = 6;
const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });

describe("a dispatcher that has claimed deliveries", { timeout: TEST_MS }, () => {
  let rig: OutboundRig;
  let running: AsyncDisposableStack;
  /** All attempts that anybody has published, stored by the broker or not. */
  let published: Attempt[];
  beforeEach(async () => {
    running = new AsyncDisposableStack();
    rig = running.use(await startOutboundRig({ instances: [["manager", "fan-out"]], attemptDeadlineMs: ATTEMPT_MS }));
    published = [];
    const seen = rig.bus.nc.subscribe("attempts.send", {
      callback(_, message) {
        published.push(...fromBinary(AttemptBatchSchema, message.data).attempts);
      },
    });
    running.defer(() => seen.unsubscribe());
    for (const path of ["/a", "/b"]) await rig.register("w", path);
  });
  afterEach(() => running.disposeAsync());

  const report = () =>
    rig.reportMany(Array.from({ length: EVENTS / 2 }, () => newEvent({ workspaceId: "w" }, rig.clock.now())));
  const leased = async () =>
    (await rig.pool.query("select from outbound_webhook.queue_item where lease_until is not null")).rowCount;
  const nothingQueued = async () => (await rig.pool.query("select from outbound_webhook.queue_item")).rowCount === 0;
  const deliveriesReceived = () => rig.receiver.requests.map(({ headers }) => headers["x-service-delivery"]).toSorted();
  async function expectEachOnce(): Promise<void> {
    const { rows } = await rig.pool.query("select id, attempts from outbound_webhook.delivery order by id");
    expect(rows.map(({ attempts }) => attempts)).toEqual(Array(EVENTS).fill(1));
    expect(deliveriesReceived()).toEqual(rows.map(({ id }) => id));
  }
  const noAttemptWaits = () =>
    eventually(async () => {
      const workers = await rig.bus.jsm.consumers.info("ATTEMPTS", "outbound-webhook-workers");
      return workers.num_pending + workers.num_ack_pending === 0;
    });

  it("[OUT-57] killed before it has sent them: they are sent within 10 s, once each, and none is lost", async () => {
    const proxy = running.use(await startTcpProxy(rig.config.natsUrl));
    const child = running.use(await spawnService(rig, "dispatcher", proxy.url));
    const publishing = proxy.loseRequestsFrom("attempts.send ");
    await report();
    await publishing;
    child.kill("SIGKILL");
    expect(await leased()).toBeGreaterThan(0);
    expect(published).toEqual([]);
    // Their lease never ends, however long this takes.
    using _stopped = rig.clock.stop();
    rig.clock.advance(SILENCE_MS);
    await rig.start(["dispatcher", "worker"]);
    await eventually(nothingQueued);
    await expectEachOnce();
  });

  it("[OUT-57] too slow to send them: what it sends after another one has sent them is dropped", async () => {
    const { databaseUrl = "", sealingKeys = [] } = rig.config.core ?? {};
    const connection = { url: databaseUrl, maxConnections: 2, applicationName: "slow" };
    const pool = running.adopt(createPipelinePool(connection), (owned) => owned.end());
    const claimed = Promise.withResolvers<void>();
    const sending = Promise.withResolvers<void>();
    const stopping = new AbortController();
    const ended = runDispatcher({
      store: createClaimStore(pool, QUEUE),
      applyResults: createApplyResults(pool, QUEUE),
      secretBox: createSecretBox({ keys: sealingKeys }),
      async send(messages) {
        stopping.abort();
        claimed.resolve();
        await sending.promise;
        return createAttemptSender(rig.bus)(messages);
      },
      wakeUp: createWakeUp(),
      now: rig.clock.now,
      signal: stopping.signal,
      onError: claimed.reject,
    });
    await report();
    await claimed.promise;
    rig.clock.advance(SILENCE_MS);
    await rig.start(["dispatcher", "worker"]);
    await eventually(nothingQueued);
    sending.resolve();
    await ended;
    await noAttemptWaits();
    await expectEachOnce();
  });

  it("[OUT-57] killed after it has sent them: attempts under way for long are not made again", async () => {
    const answer = Promise.withResolvers<void>();
    rig.receiver.behave(() => ({ after: answer.promise }));
    await rig.start(["worker"]);
    const child = running.use(await spawnService(rig, "dispatcher"));
    await report();
    const underWay = await eventually(async () => {
      const requests = rig.receiver.requests.length;
      return requests > 0 && requests === (await leased()) && requests;
    });
    child.kill("SIGKILL");
    rig.clock.advance(SILENCE_MS);
    await rig.start(["dispatcher"]);
    const asked = () => published.filter(({ handBackNotAfterMs }) => handBackNotAfterMs !== 0n).length;
    await eventually(() => asked() >= underWay);
    answer.resolve();
    await eventually(nothingQueued);
    await noAttemptWaits();
    await expectEachOnce();
  });
});
