import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { type BenchProcess, startBenchProcess } from "../machine/child-process.ts";
import { type Groups, startMeter, sumOf, type Usage } from "../machine/meter.ts";
import type { LatencySummary } from "../statistics.ts";
import type { Published, PublisherArgument, PublisherOrder, ReceiverAnswer, ReceiverOrder } from "./messages.ts";

export type Receiver = BenchProcess<{ port: number }, ReceiverOrder, ReceiverAnswer>;

type Traffic = {
  publisher: BenchProcess<object, PublisherOrder, Published>;
  receiver: Receiver;
  /** The installation's processes. */
  groups: Groups;
  signal: AbortSignal;
};

/** Events that came more than once, or had not come a minute after the last one was published. */
type Flaws = { repeated: number; missing: number };
export type Saturated = Flaws & { perSecond: number; delivered: number; usage: Usage };
type Steady = Flaws & { latency: LatencySummary; cpuMs: number; tookMs: number };

const POLL_MS = 20;
const LEAD_MS = 2_000;
const DRAIN_MS = 60_000;

/** Maintains a backlog of events and counts what arrives. Ends when the backlog has been delivered. */
export async function saturate(traffic: Traffic, backlog: number, measureMs: number): Promise<Saturated> {
  const { publisher, receiver, signal } = traffic;
  const first = await receiver.ask({ kind: "count" });
  let published = 0;
  const feedFor = async (forMs: number) => {
    const untilMs = performance.now() + forMs;
    while (performance.now() < untilMs) {
      const outstanding = published - ((await receiver.ask({ kind: "count" })).received - first.received);
      if (outstanding < backlog) {
        const { from, until } = await publisher.ask({ kind: "burst", count: backlog - outstanding });
        published += until - from;
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  };
  await feedFor(LEAD_MS);
  using meter = startMeter(traffic.groups);
  const begin = await receiver.ask({ kind: "count" });
  await feedFor(measureMs);
  const end = await receiver.ask({ kind: "count" });
  const usage = meter.stop();
  const missing = await untilReceived(traffic, first.received + published);
  const last = await receiver.ask({ kind: "count" });
  const delivered = end.received - begin.received;
  return {
    missing,
    perSecond: (delivered / (end.atMs - begin.atMs)) * 1_000,
    delivered,
    repeated: last.repeated - first.repeated,
    usage,
  };
}

/** Publishes at a steady pace and waits until every event has arrived. */
export async function sendSteadily(traffic: Traffic, perSecond: number, forMs: number): Promise<Steady> {
  const { publisher, receiver, groups } = traffic;
  const first = await receiver.ask({ kind: "count" });
  using meter = startMeter(groups);
  const range = await publisher.ask({ kind: "steady", perSecond, forMs });
  const { cpuMs, tookMs } = meter.stop();
  const missing = await untilReceived(traffic, first.received + range.until - range.from);
  const last = await receiver.ask({ kind: "report", ...range });
  if (!last.latency) throw new Error("the receiver gave no latencies");
  return { latency: last.latency, repeated: last.repeated - first.repeated, missing, cpuMs: sumOf(cpuMs), tookMs };
}

/** One event to each endpoint, so that connections are open and code is compiled. */
export async function greet(traffic: Traffic, endpoints: number): Promise<void> {
  const { received } = await traffic.receiver.ask({ kind: "count" });
  await traffic.publisher.ask({ kind: "burst", count: endpoints });
  const missing = await untilReceived(traffic, received + endpoints);
  if (missing > 0) throw new Error(`${missing} of ${endpoints} endpoints got no webhook within ${DRAIN_MS / 1_000} s`);
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

/** The customers' side; its certificate's authority is written to a file for the installation to trust. */
export async function startReceiver(
  resources: AsyncDisposableStack,
  { dataDir, signal }: { dataDir: string; signal: AbortSignal },
): Promise<{ process: Receiver; host: string; url: string; caFile: string }> {
  const { key, cert, ca } = await makeLoopbackCertificate(new Date());
  const caFile = join(dataDir, "receiver-ca.pem");
  await writeFile(caFile, ca);
  const entry = new URL("./receiver.ts", import.meta.url);
  const argument = { key, cert };
  const process: Receiver = resources.use(await startBenchProcess(entry, { argument, signal }));
  const host = `127.0.0.1:${process.ready.port}`;
  return { process, host, url: `https://${host}`, caFile };
}

export async function startTraffic(
  resources: AsyncDisposableStack,
  { servers, groups }: BenchInstallation,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<Traffic> {
  const argument: PublisherArgument = { natsUrl: servers.natsUrl };
  const entry = new URL("./publisher.ts", import.meta.url);
  const publisher: Traffic["publisher"] = resources.use(await startBenchProcess(entry, { argument, signal }));
  return { publisher, receiver, groups, signal };
}
