import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import type { BenchInstallation } from "../installation/start-installation.ts";
import type { EventTarget } from "./messages.ts";
import { type Steady, sendSteadily, type Traffic } from "./traffic.ts";

export type BacklogFigures = {
  /** Waiting deliveries of one workspace when the others' events began, and when they had ended. */
  waitingBefore: number;
  waitingAfter: number;
  /** Events of other workspaces, each of a different one. */
  others: Steady;
};

const BACKLOG_DELIVERIES = 200_000;
const LOADED = "hooks-loaded";
const LOADED_TYPE = "custom.backlog";
const LOADED_ENDPOINTS = 10;
/** A receiver that is slow but works. */
const RESPOND_AFTER_MS = 200;
const OTHERS_PER_SECOND = 10;
const OTHERS_MS = 8_000;
const FILL_WITHIN_MS = 180_000;
const POLL_MS = 250;
/** Deliveries that the loaded workspace completes while its backlog is being filled. */
const DONE_MEANWHILE = 5_000;

/** Gives one workspace more than it can take, and measures how long the others' deliveries take meanwhile. */
export async function measureBacklog(
  settings: DeliveriesSettings,
  others: readonly EventTarget[],
): Promise<BacklogFigures> {
  const { traffic, installation, receiverUrl, log } = settings;
  const { publisher, receiver } = traffic;
  const workspaceId = await installation.addWorkspace(LOADED);
  const paths = Array.from({ length: LOADED_ENDPOINTS }, (_, index) => `/loaded/${index}`);
  await receiver.ask({ kind: "slow", paths, respondAfterMs: RESPOND_AFTER_MS });
  await pLimit(1).map(paths, (path) =>
    installation.manage("outbound_webhook.v1.EndpointService/CreateEndpoint", {
      workspace: LOADED,
      url: `${receiverUrl}${path}`,
      events: [LOADED_TYPE],
    }),
  );
  await publisher.ask({ kind: "targets", targets: [{ workspace: LOADED, workspaceId, type: LOADED_TYPE }] });
  await publisher.ask({ kind: "burst", count: (BACKLOG_DELIVERIES + DONE_MEANWHILE) / LOADED_ENDPOINTS });
  const waiting = () => countWaiting(settings, workspaceId);
  const waitingBefore = await untilFilled(waiting, traffic.signal);
  log(`one workspace has ${waitingBefore} deliveries waiting`);
  await publisher.ask({ kind: "targets", targets: [...others] });
  const steady = await sendSteadily(traffic, { perSecond: OTHERS_PER_SECOND, forMs: OTHERS_MS });
  const { p50Ms, p99Ms, maxMs } = steady.latency;
  log(`other workspaces meanwhile: p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)}, max ${maxMs.toFixed(1)} ms`);
  return { waitingBefore, waitingAfter: await waiting(), others: steady };
}

async function countWaiting({ installation }: DeliveriesSettings, workspaceId: string): Promise<number> {
  const { rows } = await installation.servers.pool.query(
    "select count(*)::integer as items from outbound_webhook.queue_item where group_id = $1 and lease_until is null",
    [workspaceId],
  );
  return rows[0].items;
}

async function untilFilled(waiting: () => Promise<number>, signal: AbortSignal): Promise<number> {
  const deadline = performance.now() + FILL_WITHIN_MS;
  for (;;) {
    const count = await waiting();
    if (count >= BACKLOG_DELIVERIES) return count;
    if (performance.now() > deadline) throw new Error(`only ${count} deliveries wait after ${FILL_WITHIN_MS / 1000} s`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

export type DeliveriesSettings = {
  installation: BenchInstallation;
  traffic: Traffic;
  receiverUrl: string;
  seconds: number;
  log: (line: string) => void;
};
