import { eventually } from "@toolgate/testbed/eventually";
import { testNatsCluster } from "@toolgate/testbed/servers/nats-cluster";
import { testNats } from "@toolgate/testbed/servers/servers";
import { expect, test } from "vitest";
import { type Bus, connectBus } from "../src/connect.ts";
import { ensureReplicas } from "../src/stream-replicas.ts";
import { ensureStreams, streamFaults } from "../src/streams.ts";
import { replicaFaults } from "./replica-faults.ts";

const ALL = ["RECORDS", "CALLS", "EVENTS", "ATTEMPTS"] as const;
const PATIENCE = { deadlineMs: 60_000, everyMs: 100 };

test("a cluster keeps the copies of streams that are asked for, also of streams that had one", async () => {
  await using cluster = await testNatsCluster(3);
  const connect = (user: string, streamReplicas: number) =>
    connectBus({ servers: cluster.urls[user] ?? "", name: user, streamReplicas });
  await using one = await connect("toolgate", 1);
  await eventually(() => ensureStreams(one).then(() => true), PATIENCE);

  await using five = await connect("outbound-webhook", 5);
  await expect(ensureReplicas(five, ALL, ALL, 1)).rejects.toThrow(
    /^NATS cannot keep 5 copies of the stream RECORDS: too few servers of its cluster are up or have room \(.+\)$/,
  );
  await using gateway = await connect("gateway", 3);
  await expect(ensureReplicas(gateway, ["RECORDS"], ["RECORDS"])).rejects.toThrow(
    /: this login may not use \$JS\.API\.STREAM\.UPDATE\.RECORDS; give the server the current nats-users\.conf$/,
  );
  await using worker = await connect("outbound-webhook-worker", 3);
  await ensureReplicas(worker, ["ATTEMPTS"], []);
  expect(await replicaFaults(worker, "ATTEMPTS")).toEqual(["has 1 copy instead of 3"]);

  // As two processes do that start at the same time.
  await using manager = await connect("outbound-webhook", 3);
  await Promise.all([ensureReplicas(manager, ALL, ALL), ensureReplicas(manager, ALL, ALL)]);
  // As one does that still has the earlier setting.
  await ensureReplicas(one, ALL, ALL);
  await eventually(async () => expect(await faultsOf(manager)).toEqual([]), PATIENCE);
});

test("a server without a cluster cannot keep three copies, and nothing has to be kept twice for one", async () => {
  await using server = await testNats();
  await using bus = await connectBus({ servers: server.url, name: "test", streamReplicas: 3 });
  await expect(ensureReplicas(bus, ALL, ALL)).rejects.toThrow(
    /^NATS cannot keep 3 copies of the stream RECORDS: the server is in no cluster; set NATS_STREAM_REPLICAS to 1$/,
  );
  await using one = await connectBus({ servers: server.url, name: "test" });
  await ensureReplicas(one, ALL, ALL);
  expect(await replicaFaults(one, "RECORDS")).toEqual([]);
  await ensureStreams(one);
  expect(await replicaFaults(one, "RECORDS")).toEqual([]);
  expect(await replicaFaults(bus, "RECORDS")).toEqual(["has 1 copy instead of 3"]);
});

async function faultsOf(bus: Bus): Promise<string[]> {
  const faults = await Promise.all(
    ALL.map(async (name) => [...(await streamFaults(bus, name)), ...(await replicaFaults(bus, name))]),
  );
  return faults.flat();
}
