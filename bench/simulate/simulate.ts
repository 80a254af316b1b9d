import { ATTEMPT_DEADLINE_MS } from "@toolgate/outbound-webhook/domain/outcome";
import { deliveryQueue } from "@toolgate/outbound-webhook/store/queue";
import { seededRandom } from "@toolgate/testbed/random";
import { type LatencySummary, summarise } from "../src/statistics.ts";
import { Stream } from "./broker.ts";
import { Clock, Processors } from "./clock.ts";
import { SimulatedDispatcher } from "./dispatcher.ts";
import { exponential, logNormal } from "./distributions.ts";
import { jainsIndex } from "./fairness.ts";
import { SimulatedFanOut } from "./fan-out.ts";
import { Leases } from "./leases.ts";
import type { Send, Sent } from "./messages.ts";
import { QueueModel } from "./queue-model.ts";
import type { Item } from "./queue-state.ts";
import { COSTS, type Costs, type Demand, type Installation } from "./settings.ts";
import { SimulatedWorker } from "./worker.ts";

export interface Run {
  demand: Demand;
  installation: Installation;
  /** Not measured, so that slots and queues have filled. */
  leadMs: number;
  measureMs: number;
  seed: number;
  costs?: Costs;
}

export interface SimulatedFigures {
  perSecond: number;
  /** Jain's index of the deliveries of the workspaces with a backlog. */
  fairness: number;
  /** Workspaces with a backlog that got nothing. */
  unserved: number;
  /** From the event to the begin of its first attempt, in the quiet workspaces. */
  quiet: LatencySummary;
  /** Of the quiet workspaces' events, how many had not begun at the end, and the age of the oldest. */
  quietWaiting: { events: number; oldestMs: number };
  /** Attempts that waited for a worker until their lease was nearly over. */
  tooLate: number;
  /** How much of each resource was in use, from 0 to 1. */
  use: { database: number; dispatchers: number; workers: number; slots: number };
}

/** Simulates the dispatchers, the workers and what they use. The same run gives the same figures. */
export function simulate({ demand, installation, leadMs, measureMs, seed, costs = COSTS }: Run): SimulatedFigures {
  const clock = new Clock();
  const random = seededRandom(seed);
  const { oneMachine, workers, dispatchers, workerConcurrency, caps } = installation;
  const thread = oneMachine ? new Processors(clock, 1) : undefined;
  const process = () => thread ?? new Processors(clock, 1);
  const others = oneMachine ? new Processors(clock, 1) : undefined;
  const database = others ?? new Processors(clock, installation.databaseProcessors);
  const broker = others ?? new Processors(clock, installation.brokerProcessors);
  const product = deliveryQueue(caps);
  const queue = new QueueModel({ ...product, turnMs: installation.turnMs ?? product.turnMs });
  const leases = new Leases(queue);
  const attempts = new Stream<Send>(clock, broker, costs);
  const results = new Stream<Sent>(clock, broker, costs);

  const { backlogged, quiet } = demand;
  const firstQuiet = backlogged.workspaces;
  const isQuiet = (item: Item) => item.group >= firstQuiet;
  const hanging = Math.round(backlogged.endpoints * demand.hanging);
  const served = Array.from({ length: backlogged.workspaces }, () => 0);
  const quietMs: number[] = [];
  const quietWaiting = new Set<Item>();
  let [ended, tooLate, lastId] = [0, 0, 0];
  const isMeasured = () => clock.nowMs >= leadMs;

  const newItem = (group: number, member: number, dueMs: number): Item => {
    lastId += 1;
    return { id: lastId, group, member, attempt: 1, dueMs, eventMs: clock.nowMs };
  };
  const worker = () =>
    new SimulatedWorker({
      clock,
      processors: process(),
      costs,
      concurrency: workerConcurrency,
      attempts,
      results,
      respond: ({ item }) =>
        !isQuiet(item) && item.member < hanging
          ? { afterMs: ATTEMPT_DEADLINE_MS, status: 0 }
          : { afterMs: logNormal(random, demand.receiver.medianMs, demand.receiver.sigma), status: 200 },
      onBegin({ item }) {
        if (quietWaiting.delete(item) && item.eventMs >= leadMs) quietMs.push(clock.nowMs - item.eventMs);
      },
      onTooLate() {
        if (isMeasured()) tooLate += 1;
      },
    });
  const fleet = Array.from({ length: workers }, worker);
  const ownProcessors: Processors[] = [];
  const team = Array.from({ length: dispatchers }, () => {
    const own = process();
    ownProcessors.push(own);
    return new SimulatedDispatcher({
      clock,
      processors: own,
      database,
      costs,
      queue,
      leases,
      attempts,
      results,
      onEnded({ item }) {
        if (isMeasured()) ended += 1;
        if (isQuiet(item)) return;
        if (isMeasured()) served[item.group] = (served[item.group] ?? 0) + 1;
        if (demand.feed === "old") queue.add([newItem(item.group, item.member, 0)]);
        else fanOut.add(newItem(item.group, item.member, clock.nowMs));
      },
    });
  });
  let next = 0;
  const announceWork = () => {
    team[next % team.length]?.wake();
    next += 1;
  };
  const fanOut = new SimulatedFanOut({
    clock,
    processors: process(),
    database,
    costs,
    queue,
    isMeasuredHere: oneMachine,
    announceWork,
  });
  leases.sweep(clock, announceWork);

  for (let group = 0; group < backlogged.workspaces; group += 1) {
    const items = Array.from({ length: backlogged.endpoints * backlogged.waiting }, (_, index) =>
      newItem(group, index % backlogged.endpoints, 0),
    );
    queue.add(items);
  }
  const happen = (group: number) => {
    const item = newItem(group, 0, clock.nowMs);
    quietWaiting.add(item);
    fanOut.add(item);
    clock.after(exponential(random, quiet.betweenEventsMs), () => happen(group));
  };
  for (let index = 0; index < quiet.workspaces; index += 1)
    clock.after(exponential(random, quiet.betweenEventsMs), () => happen(firstQuiet + index));
  for (const one of fleet) one.start();
  for (const one of team) one.start();

  clock.runUntil(leadMs + measureMs);
  const allMs = leadMs + measureMs;
  const waitingMs = [...quietWaiting].map((item) => clock.nowMs - item.eventMs);
  const slotMs = fleet.reduce((sum, one) => sum + one.slotMs, 0);
  return {
    perSecond: (ended * 1_000) / measureMs,
    fairness: jainsIndex(served),
    unserved: served.filter((count) => count === 0).length,
    quiet: summarise(quietMs),
    quietWaiting: { events: waitingMs.length, oldestMs: waitingMs.reduce((most, age) => Math.max(most, age), 0) },
    tooLate,
    use: {
      database: database.usedMs / database.count / allMs,
      dispatchers: Math.max(...ownProcessors.map((own) => own.usedMs / own.count / allMs)),
      workers: Math.max(...fleet.map((one) => one.processors.usedMs / one.processors.count / allMs)),
      slots: slotMs / (workers * workerConcurrency * allMs),
    },
  };
}
