import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { type BenchProcess, startBenchProcess } from "../machine/child-process.ts";
import { type Groups, startMeter, type Usage } from "../machine/meter.ts";
import type { LatencySummary } from "../statistics.ts";
import type {
  Published,
  PublisherArgument,
  PublisherOrder,
  ReceiverAnswer,
  ReceiverArgument,
  ReceiverOrder,
} from "./messages.ts";

export type Traffic = {
  publisher: BenchProcess<object, PublisherOrder, Published>;
  receiver: BenchProcess<{ port: number }, ReceiverOrder, ReceiverAnswer>;
  groups: Groups;
  signal: AbortSignal;
};

/** Events that came more than once, or had not come a minute after the last one was published. */
type Flaws = { repeated: number; missing: number };
export type Saturated = Flaws & {
  perSecond: number;
  /** In the measured window, and in the whole run. */
  delivered: number;
  deliveredInAll: number;
  usage: Usage;
};
export type Steady = Flaws & { perSecond: number; published: number; latency: LatencySummary; usage: Usage };

const POLL_MS = 20;
const LEAD_MS = 2_000;
const DRAIN_MS = 60_000;

/** Maintains a bounded backlog of events and counts what arrives. Ends when the backlog has been delivered. */
export async function saturate(
  traffic: Traffic,
  backlog: number,
  measureMs: number,
  leadMs = LEAD_MS,
): Promise<Saturated> {
  const { publisher, receiver, signal } = traffic;
  const first = await receiver.ask({ kind: "count" });
  let outstanding = 0;
  let published = 0;
  const feedFor = async (forMs: number) => {
    const untilMs = performance.now() + forMs;
    while (performance.now() < untilMs) {
      outstanding = published - ((await receiver.ask({ kind: "count" })).received - first.received);
      if (outstanding < backlog) {
        const { from, until } = await publisher.ask({ kind: "burst", count: backlog - outstanding });
        published += until - from;
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  };
  await feedFor(leadMs);
  using meter = startMeter(traffic.groups);
  const begin = await receiver.ask({ kind: "count" });
  await feedFor(measureMs);
  const end = await receiver.ask({ kind: "count" });
  const usage = meter.stop();
  const missing = await untilReceived(traffic, first.received + published);
  const last = await receiver.ask({ kind: "count" });
  return {
    missing,
    perSecond: ((end.received - begin.received) / (end.atMs - begin.atMs)) * 1000,
    delivered: end.received - begin.received,
    deliveredInAll: last.received - first.received,
    repeated: last.repeated - first.repeated,
    usage,
  };
}

export type Pace = {
  perSecond: number;
  forMs: number;
  /** Whether the receiver responds to the event of this number. */
  getsResponse?: (n: number) => boolean;
};

/** Publishes at a steady pace and waits until every event has arrived that does not go to a hanging endpoint. */
export async function sendSteadily(traffic: Traffic, pace: Pace): Promise<Steady> {
  const { perSecond, forMs, getsResponse = () => true } = pace;
  const { publisher, receiver, groups } = traffic;
  const first = await receiver.ask({ kind: "count" });
  using meter = startMeter(groups);
  const range = await publisher.ask({ kind: "steady", perSecond, forMs });
  const published = range.until - range.from;
  const usage = meter.stop();
  let expected = first.received;
  for (let n = range.from; n < range.until; n += 1) if (getsResponse(n)) expected += 1;
  const missing = await untilReceived(traffic, expected);
  const last = await receiver.ask({ kind: "report", ...range });
  if (!last.latency) throw new Error("the receiver gave no latencies");
  return { perSecond, published, latency: last.latency, repeated: last.repeated - first.repeated, missing, usage };
}

/** One event to each endpoint, so that connections are open and code is compiled. */
export async function greet(traffic: Traffic, endpoints: number): Promise<void> {
  const { received } = await traffic.receiver.ask({ kind: "count" });
  await traffic.publisher.ask({ kind: "burst", count: endpoints });
  const missing = await untilReceived(traffic, received + endpoints);
  if (missing > 0) throw new Error(`${missing} of ${endpoints} endpoints got no webhook within ${DRAIN_MS / 1000} s`);
}

/** Waits until this many events have arrived since the start; returns how many are missing when the time is up. */
async function untilReceived({ receiver, signal }: Traffic, wanted: number): Promise<number> {
  const deadline = performance.now() + DRAIN_MS;
  for (;;) {
    const missing = wanted - (await receiver.ask({ kind: "count" })).received;
    if (missing <= 0 || performance.now() > deadline) return Math.max(0, missing);
    await sleep(POLL_MS, undefined, { signal });
  }
}

export type ReceiverProcess = { process: Traffic["receiver"]; host: string; url: string };
type StartedReceiver = ReceiverProcess & { caFile: string; certificate: ReceiverArgument };

/** The customers' side; its certificate's authority is written to a file for the installation to trust. */
export async function startReceiver(
  resources: AsyncDisposableStack,
  { dataDir, signal }: { dataDir: string; signal: AbortSignal },
): Promise<StartedReceiver> {
  const { key, cert, ca } = await makeLoopbackCertificate(new Date());
  const caFile = join(dataDir, "receiver-ca.pem");
  await writeFile(caFile, ca);
  const certificate = { key, cert };
  return { ...(await startReceiverProcess(resources, certificate, signal)), caFile, certificate };
}

/** One more server of customers, for those who are not to wait for the load of the others' server. */
export async function startReceiverProcess(
  resources: AsyncDisposableStack,
  certificate: ReceiverArgument,
  signal: AbortSignal,
): Promise<ReceiverProcess> {
  const entry = new URL("./receiver.ts", import.meta.url);
  const started = await startBenchProcess<{ port: number }, ReceiverOrder, ReceiverAnswer>(entry, {
    argument: certificate,
    signal,
  });
  const host = `127.0.0.1:${started.ready.port}`;
  return { process: resources.use(started), host, url: `https://${host}` };
}

export async function startTraffic(
  resources: AsyncDisposableStack,
  installation: BenchInstallation,
  receiver: Traffic["receiver"],
  { signal }: { signal: AbortSignal },
): Promise<Traffic> {
  const argument: PublisherArgument = { natsUrl: installation.servers.natsUrl };
  const entry = new URL("./publisher.ts", import.meta.url);
  const publisher = resources.use(
    await startBenchProcess<object, PublisherOrder, Published>(entry, { argument, signal }),
  );
  const groups = {
    ...installation.groups,
    publisher: { pids: [publisher.pid], take: "both" as const },
    receiver: { pids: [receiver.pid], take: "both" as const },
  };
  return { publisher, receiver, groups, signal };
}
