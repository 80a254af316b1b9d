import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { Bench } from "../bench.ts";
import type { BenchProcess } from "../bench-process.ts";
import { type BenchInstallation, makeEndpoint } from "../installation.ts";
import { type Groups, startMeter, sum } from "../meter.ts";
import type { PostLoopArgument, PostLoopOrder } from "../peers/post-loop.ts";
import type { Latency } from "../statistics.ts";
import { figure, table, withRatio } from "../table.ts";
import type { EventTarget, Published, PublisherArgument, PublisherOrder } from "./messages.ts";

export type Publisher = BenchProcess<object, PublisherOrder, Published>;

/** What Toolgate sends at the same time to one endpoint. */
const CONNECTIONS_PER_ENDPOINT = 2;
/** `backlogs`: how many events wait; the cost of a delivery must not grow with them. */
const SIZES = [
  { endpoints: 1, workspaces: 1, connections: CONNECTIONS_PER_ENDPOINT, backlogs: [500, 20_000] },
  { endpoints: 100, workspaces: 5, connections: 25, backlogs: [2_000] },
];
const STEADY_PER_SECOND = 200;
const LEAD_MS = 5_000;
const POLL_MS = 20;
const DRAIN_MS = 60_000;
const CONCURRENT_REQUESTS = 4;

/** Numbers of events are different for each publisher, as the receiver tells events by them. */
let publishers = 1;

export function startPublisher({ start }: Bench, { servers }: BenchInstallation): Promise<Publisher> {
  const argument: PublisherArgument = { natsUrl: servers.natsUrl, firstNumber: publishers++ * 100_000_000 };
  return start("deliveries/publisher.ts", argument);
}

/** From an event to the webhook that the customer's server has received, beside a loop that posts what it is given. */
export async function measureDeliveries(bench: Bench): Promise<string> {
  const { single, receiver, start, windowMs, log } = bench;
  const publisher = await startPublisher(bench, single);
  const argument: PostLoopArgument = { url: receiver.url, ca: receiver.ca };
  const loop = await start<object, PostLoopOrder, Published>("peers/post-loop.ts", argument);
  const rates: { name: string; perSecond: number; peer: number; cpuUs: number; shortUs: number }[] = [];
  const steady: { name: string; latency: Latency; peer: Latency; missing: number; processors: number }[] = [];
  for (const { endpoints, workspaces, connections, backlogs } of SIZES) {
    const { targets, paths } = await registerEndpoints(bench, endpoints, workspaces);
    const posting = startMeter({ loop: [loop.pid] });
    const posted = await loop.ask({ paths, connections, forMs: windowMs });
    const peer = ((posted.until - posted.from) / windowMs) * 1000;
    const loopUs = ((posting().loop ?? 0) * 1000) / (posted.until - posted.from);
    const to = `${endpoints} endpoint${endpoints === 1 ? "" : "s"}`;
    rates.push({ name: `loop, ${to}`, perSecond: peer, peer, cpuUs: loopUs, shortUs: loopUs });
    let shortUs: number | undefined;
    for (const backlog of backlogs) {
      const full = await saturate(bench, publisher, { targets, backlog });
      shortUs ??= full.cpuUs;
      rates.push({ name: `Toolgate, ${to}, ${figure(backlog)} waiting`, peer, shortUs, ...full });
      log(`deliveries to ${to}, ${figure(backlog)} waiting: ${figure(full.perSecond)}/s, the loop ${figure(peer)}/s`);
    }
    if (endpoints === 1) continue;
    const pace = { perSecond: STEADY_PER_SECOND, forMs: 2 * windowMs };
    const looping = startMeter({ loop: [loop.pid] });
    const ofLoop = await untilReceived(bench, await loop.ask({ paths, connections, ...pace }));
    const processorsOf = (cpuMs: Record<string, number>) => sum(Object.values(cpuMs)) / pace.forMs;
    steady.push({ name: "loop", ...ofLoop, peer: ofLoop.latency, processors: processorsOf(looping()) });
    const delivering = startMeter(single.groups);
    const ofToolgate = await untilReceived(bench, await publisher.ask({ targets, ...pace }));
    steady.push({ name: "Toolgate", ...ofToolgate, peer: ofLoop.latency, processors: processorsOf(delivering()) });
    log(`at ${STEADY_PER_SECOND}/s: p50 ${figure(ofToolgate.latency.p50Ms, 1)} ms`);
  }
  return [
    table(rates, {
      "": ({ name }) => name,
      "deliveries/s": ({ perSecond, peer }) => withRatio(perSecond, peer),
      "CPU µs/delivery": ({ cpuUs, shortUs }) => withRatio(cpuUs, shortUs),
    }),
    `${STEADY_PER_SECOND} events a second to ${SIZES.at(-1)?.endpoints} endpoints:`,
    table(steady, {
      "": ({ name }) => name,
      "p50 ms": ({ latency, peer }) => withRatio(latency.p50Ms, peer.p50Ms, 1),
      "p99 ms": ({ latency, peer }) => withRatio(latency.p99Ms, peer.p99Ms, 1),
      processors: ({ processors }) => figure(processors, 2),
      missing: ({ missing }) => figure(missing),
    }),
  ].join("\n\n");
}

/** Endpoints, each with a type of event of its own; neighbours in the list belong to different workspaces. */
async function registerEndpoints({ single, receiver }: Bench, endpoints: number, workspaces: number) {
  const names = Array.from({ length: workspaces }, (_, index) => `hooks-${endpoints}-${index}`);
  const ids = await pLimit(1).map(names, (name) => single.addWorkspace(name));
  const targets = Array.from({ length: endpoints }, (_, index): EventTarget => {
    const at = index % names.length;
    return { workspace: names[at] as string, workspaceId: ids[at] as string, type: `custom.e${index}` };
  });
  const paths = targets.map((_, index) => `/${endpoints}/${index}`);
  await pLimit(CONCURRENT_REQUESTS).map(targets, ({ workspace, type }, index) =>
    makeEndpoint(single, workspace, `${receiver.url}${paths[index]}`, type),
  );
  return { targets, paths };
}

/** Maintains a bounded backlog of events and counts what arrives. Ends when the backlog has been delivered. */
async function saturate(
  bench: Bench,
  publisher: Publisher,
  { targets, backlog }: { targets: EventTarget[]; backlog: number },
): Promise<{ perSecond: number; cpuUs: number }> {
  const { receiver, single, windowMs, signal } = bench;
  const { received: first } = await receiver.process.ask({});
  let published: Published = { from: 0, until: 0 };
  let count = 0;
  const feedFor = async (forMs: number) => {
    for (const untilMs = performance.now() + forMs; performance.now() < untilMs; ) {
      const outstanding = count - ((await receiver.process.ask({})).received - first);
      if (outstanding < backlog) {
        published = await publisher.ask({ targets, burst: backlog - outstanding });
        count += published.until - published.from;
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  };
  await feedFor(LEAD_MS);
  const groups: Groups = single.groups;
  const stop = startMeter(groups);
  const begin = await receiver.process.ask({});
  await feedFor(windowMs);
  const end = await receiver.process.ask({});
  const delivered = end.received - begin.received;
  const cpuUs = (sum(Object.values(stop())) * 1000) / delivered;
  await untilReceived(bench, published);
  return { perSecond: (delivered / (end.atMs - begin.atMs)) * 1000, cpuUs };
}

/** Waits for these events; `missing` are those that have not come when the time is up. */
export async function untilReceived(
  { receiver, signal }: Bench,
  range: Published,
): Promise<{ latency: Latency; missing: number }> {
  const wanted = range.until - range.from;
  const deadline = performance.now() + DRAIN_MS;
  for (;;) {
    const { latency } = await receiver.process.ask(range);
    const missing = wanted - latency.count;
    if (missing === 0 || performance.now() > deadline) return { latency, missing };
    await sleep(5 * POLL_MS, undefined, { signal });
  }
}
