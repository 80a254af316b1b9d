import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { consumerFaults } from "@toolgate/event-bus/consumer-faults";
import { permissionsOf } from "@toolgate/event-bus/permissions";
import { knownServers, replicaFaults } from "@toolgate/event-bus/stream-replicas";
import { isStreamName, streamFaults } from "@toolgate/event-bus/streams";
import { STREAM_REPLICAS } from "@toolgate/service-host/connections";
import { jetStreamOf } from "@toolgate/service-registry/server-users";
import { type Findings, messageOf, RESPONSE_MS } from "./finding.ts";
import type { Installation, Member } from "./installation.ts";
import { checkVersion, type Supported } from "./versions.ts";

const LOGINS = "Run logins-main.ts again, copy nats-users.conf to the server and reload it: docs/operators.md, Logins.";
const COPIES =
  "Start the servers of NATS' cluster that are down. If streams have fewer copies than NATS_STREAM_REPLICAS, restart outbound-webhook (not only workers), which raises them.";

export async function checkNats(installation: Installation, supported: Supported, findings: Findings): Promise<void> {
  const looked = new Set<string>();
  await Promise.all(
    installation.members
      .filter(({ env }) => env.NATS_URL)
      .map((member) => checkMember(member, looked, supported, findings)),
  );
}

/** A setting that no service would accept is reported with the settings. */
function replicasOf({ env }: Member): number {
  return STREAM_REPLICAS.find((allowed) => allowed === env.NATS_STREAM_REPLICAS) ? Number(env.NATS_STREAM_REPLICAS) : 1;
}

/** Says it before services are started that would refuse to, and which copies a cluster lacks. */
function checkServers(bus: Bus, findings: Findings): void {
  const servers = knownServers(bus);
  if (servers !== undefined && servers < bus.streamReplicas)
    findings.add(
      "settings",
      `NATS_STREAM_REPLICAS is ${bus.streamReplicas}, but NATS has ${servers === 1 ? "1 server" : `${servers} servers`}`,
      "Add servers to its cluster, or set it to 1. Services do not start before.",
    );
}

/** `looked` has the streams and consumers that another member takes care of. */
async function checkMember(
  member: Member,
  looked: Set<string>,
  supported: Supported,
  findings: Findings,
): Promise<void> {
  const { name } = member.user;
  let bus: Bus;
  try {
    bus = await connectBus({
      servers: member.env.NATS_URL ?? "",
      caFile: member.env.SERVERS_CA_FILE ?? "",
      name: "doctor",
      apiTimeoutMs: RESPONSE_MS,
      streamReplicas: replicasOf(member),
    });
  } catch (error) {
    findings.add(
      "servers",
      `${name} cannot use NATS: ${messageOf(error)}`,
      `Check that the server runs, and NATS_URL. ${LOGINS}`,
    );
    return;
  }
  await using _ = bus;
  checkVersion("NATS", bus.nc.info?.version, supported, findings);
  try {
    const { refused, readsEverything } = await permissionsOf(bus, member.user.nats);
    for (const subject of refused) findings.add("permissions", `${name} may not use ${subject} in NATS`, LOGINS);
    if (readsEverything)
      findings.add("permissions", `${name} may read all messages of NATS`, `Give it a login of its own. ${LOGINS}`);
    checkServers(bus, findings);
    if (refused.length === 0) await checkStreams(bus, member, looked, findings);
  } catch (error) {
    findings.add(
      "streams",
      `JetStream does not respond to ${name}: ${messageOf(error)}`,
      "Check that JetStream is on (`jetstream {}` in the configuration of nats-server) and that its disk is not full.",
    );
  }
}

async function checkStreams(bus: Bus, { user }: Member, looked: Set<string>, findings: Findings): Promise<void> {
  const { streams, consumers } = jetStreamOf(user);
  for (const stream of streams.filter(isStreamName)) {
    if (looked.has(stream)) continue;
    looked.add(stream);
    for (const fault of await streamFaults(bus, stream))
      findings.add(
        "streams",
        `the stream ${stream} ${fault}`,
        `A service creates a missing stream at its start. To replace one that differs: stop all services, delete it (\`nats stream rm ${stream}\`), start them.`,
      );
    for (const fault of await replicaFaults(bus, stream))
      findings.add("streams", `the stream ${stream} ${fault}`, COPIES);
  }
  for (const consumer of consumers) {
    if (looked.has(consumer.durable)) continue;
    looked.add(consumer.durable);
    for (const fault of await consumerFaults(bus, consumer))
      findings.add(
        "streams",
        `the consumer ${consumer.durable} of ${consumer.stream} ${fault}`,
        `Start the processes of ${user.service}, which create it and read from it. If it differs, restart them.`,
      );
  }
}
