import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { type StreamName, streamFaults } from "@toolgate/event-bus/streams";
import { eventually } from "@toolgate/testbed/eventually";
import { seededRandom } from "@toolgate/testbed/random";
import { type TestNatsCluster, testNatsCluster } from "@toolgate/testbed/servers/nats-cluster";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { replicaFaults } from "../../../../packages/event-bus/test/replica-faults.ts";
import { type FaultRun, runFaults } from "../faults/run.ts";
import type { Victim } from "../faults/victims.ts";
import { readArrivals, readLogs } from "../load/evidence.ts";
import { brokenHookCalls, failedCalls, missingEvents, missingFromLogs, repeatedEvents } from "../load/tally.ts";
import { makeRetriesDue, SETTLED, settle } from "../load/unsettled.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const STREAMS: readonly StreamName[] = ["CALLS", "RECORDS", "EVENTS", "ATTEMPTS"];
const PATIENCE = { deadlineMs: 120_000, everyMs: 250 };
const SEED = 11;

describe("an installation on a NATS cluster of three servers, each of which is killed under load", () => {
  const resources = new AsyncDisposableStack();
  let cluster: TestNatsCluster;
  let toolgate: RunningToolgate;
  let bus: Bus;
  let run: FaultRun;

  beforeAll(async () => {
    cluster = resources.use(await testNatsCluster(3));
    const env = { NATS_STREAM_REPLICAS: "3" };
    toolgate = resources.use(await runToolgate("split", { otherNats: cluster, env, replicas: { "key-auth": 2 } }));
    bus = resources.use(await connectBus({ servers: cluster.url, name: "test", streamReplicas: 3 }));
    const victims = cluster.servers.map((server, index) => victim(server, `server ${index + 1}`));
    run = await runFaults(toolgate, victims, seededRandom(SEED), () => {});
  }, 600_000);
  afterAll(() => resources.disposeAsync());

  /** Stays down until the installation works without it, and is back when it has all messages. */
  function victim(server: TestNatsCluster["servers"][number], name: string): Victim {
    return {
      name,
      ends: {},
      async kill(_, onKilled) {
        await server.kill();
        onKilled();
        const before = toolgate.receiver.requests.length;
        await eventually(() => toolgate.receiver.requests.length > before + 50, PATIENCE);
        await server.restart();
        await eventually(async () => expect(await faults()).toEqual([]), PATIENCE);
      },
    };
  }

  async function faults(): Promise<string[]> {
    const found = await Promise.all(
      STREAMS.map(async (name) => [...(await streamFaults(bus, name)), ...(await replicaFaults(bus, name))]),
    );
    return found.flat();
  }

  test("no call fails, none is missing in a log, and every event arrives", async () => {
    const { pool, receiver } = toolgate;
    expect(await settle({ pool, bus }, run, makeRetriesDue)).toEqual(SETTLED);
    const logs = await readLogs(pool);
    const arrivals = readArrivals(receiver.requests, run.workspace);
    const slowest = Math.max(...run.calls.map(({ sentAtMs, endedAtMs }) => endedAtMs - sentAtMs));
    console.log(
      `${run.calls.length} calls, the slowest took ${slowest} ms; ${arrivals.events.size} events, ${repeatedEvents(arrivals).length} arrived twice`,
    );
    expect(run.notRecovered).toEqual([]);
    expect(run.bystandersLost).toEqual([]);
    expect(failedCalls(run.calls)).toEqual([]);
    expect(missingFromLogs(run.calls, logs)).toEqual([]);
    expect(missingEvents(run.calls, run.hookCalls, logs, arrivals)).toEqual([]);
    expect(brokenHookCalls(run.hookCalls, logs, arrivals)).toEqual([]);
  });
});
