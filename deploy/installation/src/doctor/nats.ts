import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { isStreamName, streamFaults } from "@toolgate/event-bus/streams";
import { streamsOf } from "@toolgate/service-registry/server-users";
import { type Findings, type Member, messageOf, RESPONSE_MS } from "./finding.ts";
import { consumerFaults } from "./nats-consumer.ts";
import { permissionsOf } from "./nats-permissions.ts";

export async function checkNats(members: readonly Member[], findings: Findings): Promise<void> {
  await Promise.all(members.filter(({ env }) => env.NATS_URL).map((member) => checkMember(member, findings)));
}

async function checkMember({ user, env }: Member, findings: Findings): Promise<void> {
  const { name } = user;
  const addresses = { servers: env.NATS_URL ?? "", caFile: env.SERVERS_CA_FILE ?? "" };
  try {
    await using bus = await connectBus({ ...addresses, name: "doctor", apiTimeoutMs: RESPONSE_MS });
    const { refused, readsEverything } = await permissionsOf(bus, user);
    for (const subject of refused) findings.add("permissions", `${name} may not use ${subject} in NATS`);
    if (readsEverything) findings.add("permissions", `${name} may read all messages of NATS`);
    if (refused.length === 0) await checkStreams(bus, user, findings);
  } catch (error) {
    findings.add("servers", `${name} cannot use NATS: ${messageOf(error)}`);
  }
}

async function checkStreams(bus: Bus, user: Member["user"], findings: Findings): Promise<void> {
  const [streams, { consumers = [] }] = [streamsOf(user), user.nats];
  for (const stream of streams.filter(isStreamName))
    for (const fault of await streamFaults(bus, stream)) findings.add("streams", `the stream ${stream} ${fault}`);
  for (const consumer of consumers)
    for (const fault of await consumerFaults(bus, consumer))
      findings.add("streams", `the consumer ${consumer.durable} of ${consumer.stream} ${fault}`);
}
