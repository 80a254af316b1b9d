import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import type { Client } from "@toolgate/postgres/pool";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deliveryQueue } from "../../src/store/queue.ts";
import { createReplaySteps } from "../../src/store/replay/steps.ts";
import { type ReplayScene, startReplayScene } from "./scene.ts";

/** A step makes twice as many deliveries as an endpoint has slots. */
const QUEUE = deliveryQueue({ perGroup: 5, perMember: 2, failingPerGroup: 2 });

/** The statements that were sent without waiting for each other, and how many rows they read. */
interface RoundTrip {
  statements: string[];
  rows: number;
}

/** Notes the round trips of a client. */
function observe(client: Client, trips: RoundTrip[]): void {
  // biome-ignore lint/suspicious/noExplicitAny: pg's `query` has many signatures.
  const query = client.query.bind(client) as (...given: any[]) => Promise<{ rows: unknown[] }>;
  let waiting = 0;
  client.query = ((...given: [string | { text: string; name: string }]) => {
    // The pool's own `query` passes a callback; it is not part of the step's transaction.
    if (given.length > 1) return query(...given);
    if (waiting === 0) trips.push({ statements: [], rows: 0 });
    const trip = trips.at(-1) as RoundTrip;
    const [statement] = given;
    trip.statements.push(typeof statement === "string" ? statement : statement.name);
    waiting += 1;
    const sent = query(...given);
    const done = (rows: number) => {
      waiting -= 1;
      trip.rows += rows;
    };
    sent.then(
      (result) => done(result.rows.length),
      () => done(0),
    );
    return sent;
  }) as typeof client.query;
}

describe("a step of a replay", () => {
  let scene: ReplayScene;
  beforeEach(async () => {
    scene = await startReplayScene();
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  it("[FAIR] holds the lock of its workspace's queue for three round trips, and before it reads few rows", async () => {
    const { id } = await scene.backlog(150);
    await scene.start(id);
    const trips: RoundTrip[] = [];
    const { databaseUrl = "" } = scene.rig.config.core ?? {};
    await using resources = new AsyncDisposableStack();
    const pool = resources.adopt(
      createPipelinePool({ url: databaseUrl, maxConnections: 1, applicationName: "observed" }),
      (owned) => owned.end(),
    );
    pool.on("connect", (client) => observe(client, trips));
    expect(await createReplaySteps(pool, QUEUE).step(scene.rig.clock.now())).toMatchObject({ made: 4 });
    const locking = trips.findIndex(({ statements }) => statements[0]?.endsWith("queue_lock"));
    const committing = trips.findIndex(({ statements }) => statements.includes("commit"));
    expect(committing - locking + 1).toBe(3);
    const before = trips.slice(0, locking).reduce((rows, trip) => rows + trip.rows, 0);
    expect(before).toBeLessThanOrEqual(30);
  });
});
