import type { Bus } from "@toolgate/event-bus/connect";
import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { createWakeUp, onWork } from "@toolgate/event-bus/wake-up";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { isAnyGroupDue } from "@toolgate/postgres/fair-queue/claim";
import { pause, runEvery, runFound } from "@toolgate/service-host/every";
import type { Logger } from "@toolgate/service-host/logger";
import type { Loop, Loops } from "@toolgate/service-host/loops";
import type { Peers } from "@toolgate/service-host/peers";
import { createCallBuilderTool } from "../clients/builder-tools.ts";
import { createDescribeTools } from "../clients/describe-tools.ts";
import type { Config } from "../config.ts";
import type { Context } from "../context.ts";
import { LANES, type Lane, laneQueue } from "../store/queue.ts";
import { type ClaimedTurn, createClaimStore } from "../store/turns/claim.ts";
import { createEndTurn, type EndTurn } from "../store/turns/end.ts";
import { createLeaseStore, type LeaseStore } from "../store/turns/leases.ts";
import { lookForOverdue } from "../store/turns/overdue.ts";
import { refuseWaiting } from "../store/turns/refuse.ts";
import { type TurnWrite, writeTurns } from "../store/turns/write.ts";
import { finishResets } from "../store/unfinished-resets.ts";
import { createPublishEvents } from "../turns/live-events.ts";
import { createQueueSlots, ENDS } from "../turns/queue-slots.ts";
import { onStop } from "../turns/stop-turn.ts";
import { createAnnounceTurns, wakeUpOf } from "../turns/subjects.ts";
import { claimTurns } from "../turns/worker/claim-loop.ts";
import { createLargeTurns } from "../turns/worker/large-turns.ts";
import { createRenewal, RENEW_EVERY_MS } from "../turns/worker/renew-leases.ts";
import { runTurn, type TurnDependencies } from "../turns/worker/run-turn.ts";
import { createRunningTurns, type RunningTurns } from "../turns/worker/running-turns.ts";

export interface WorkerOptions {
  config: Pick<Config, "turnsPerWorker" | "turnsPerWorkspace">;
  bus: Bus;
  log: Logger;
  peers: Peers;
}

const SWEEP_EVERY_MS = 1_000;
/** Writes that share a transaction, and their bytes. */
const MAX_WRITES = 500;
const MAX_WRITE_BYTES = 4 * 1024 * 1024;
/** Turns may still finish within this time once the process is told to stop. Another worker continues the others. */
const DRAIN_MS = 5_000;

type OfLane<T> = Readonly<Record<Lane, T>>;

/** Runs turns: claims them, answers, and hands over the unfinished ones when the process stops. */
export function workerLoops(context: Context, options: WorkerOptions, resources: AsyncDisposableStack): Loops {
  const { pool, queuePool, leasePool, now } = context;
  const { config, bus, log } = options;
  const { turnsPerWorkspace, turnsPerWorker } = config;
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const ofLanes = <T>(make: (lane: Lane) => T) =>
    Object.fromEntries(LANES.map((lane) => [lane, make(lane)])) as OfLane<T>;
  const queues = ofLanes((lane) => laneQueue(lane, turnsPerWorkspace));
  const leases = ofLanes((lane) => createLeaseStore(queuePool, lane, queues[lane]));
  const wakeUps = ofLanes((lane) => {
    const wakeUp = createWakeUp();
    resources.use(onWork(bus, wakeUpOf(lane), () => wakeUp.signal()));
    return wakeUp;
  });
  const inQueue = createQueueSlots(ENDS);
  const endTurn = ofLanes((lane): EndTurn => {
    const commit = createEndTurn(queuePool, lane, queues[lane]);
    return (end, at) => inQueue(end.turn.workspaceId, () => commit(end, at));
  });
  const deps = turnDependencies(context, options, endTurn, resources);
  const release = async (turn: ClaimedTurn) => {
    await inQueue(turn.workspaceId, () => leases[turn.lane].release([turn]));
    deps.announceTurns(turn.lane);
  };
  const running = resources.use(
    createRunningTurns({
      run: (turn, control, stored) => runTurn(deps, turn, control, stored),
      async onEnd(turn, handOver) {
        wakeUps[turn.lane].signal();
        if (!handOver) return;
        await release(turn);
      },
      onError: onError("turn"),
    }),
  );
  context.localWorker.current = {
    hasRoom: (lane) => running.count(lane) < turnsPerWorker,
    run(turns, stored) {
      for (const turn of turns) {
        if (context.localWorker.current) running.start(turn, stored);
        // The worker has stopped in the meantime.
        else stored.then(() => release(turn)).catch(onError("turn"));
      }
    },
  };
  resources.use(onStop(bus, (turn) => running.control(turn)?.leave("stop")));
  const publish = createPublishEvents(bus);
  const refuse = async () => {
    for (const turn of await refuseWaiting(pool, now())) publish(turn, turn.id, []);
  };
  const sweeps = ofLanes((lane) => () => expire(leases[lane], now(), () => wakeUps[lane].signal()));
  const overdue = async (finish: () => Promise<void>) => {
    const { lanes, waiting, resets } = await lookForOverdue(pool, now());
    return [...lanes.map((lane) => sweeps[lane]), ...(waiting ? [refuse] : []), ...(resets ? [finish] : [])];
  };
  const renew = createRenewal({ pool: leasePool, running, now });
  return {
    producers: [
      ...LANES.map((lane): Loop => {
        const claim = createClaimStore(queuePool, lane, queues[lane]);
        const isDue = (at: Date) => isAnyGroupDue(queuePool, queues[lane].tables, at);
        const settings = { lane, isDue, claim, running, turnsPerWorkspace, maxTurns: turnsPerWorker, now };
        return async (signal) => {
          signal.addEventListener("abort", () => {
            context.localWorker.current = undefined;
          });
          await claimTurns({ ...settings, wakeUp: wakeUps[lane], signal, onError: onError(`${lane} turns`) });
          await handOver(running, lane);
        };
      }),
      (signal) => {
        const finish = () => finishResets(pool, now, signal);
        return runFound(SWEEP_EVERY_MS, signal, () => overdue(finish), onError("sweep"));
      },
    ],
    // Renews leases until all turns have ended.
    consumers: [(signal) => runEvery(RENEW_EVERY_MS, signal, renew, onError("leases"))],
  };
}

function turnDependencies(
  { pool, queuePool, modelOf, readFiles, now }: Context,
  { bus, log, peers }: WorkerOptions,
  endTurn: OfLane<EndTurn>,
  resources: AsyncDisposableStack,
): TurnDependencies {
  const writer = resources.use(
    createGroupCommit<TurnWrite>({
      commit: (writes) => writeTurns(queuePool, writes, now()),
      maxItems: MAX_WRITES,
      maxBytes: MAX_WRITE_BYTES,
      sizeOf: ({ events, calls }) =>
        events.reduce((bytes, event) => bytes + event.length, 0) +
        calls.reduce((bytes, { args, result }) => bytes + args.length + result.length, 0),
    }),
  );
  return {
    pool,
    queuePool,
    writer,
    publish: createPublishEvents(bus),
    announceTurns: createAnnounceTurns(bus),
    endTurn,
    largeTurns: createLargeTurns(),
    runTool: peers.call(RunService.method.run),
    describeTools: createDescribeTools(peers.transport("tool-runner")),
    callBuilderTool: createCallBuilderTool(peers.transport("tool-runner")),
    modelOf,
    readFiles,
    now,
    onError: (error) => log.error({ err: error }, "turn"),
  };
}

async function expire(leases: LeaseStore, now: Date, onExpired: () => void): Promise<void> {
  if ((await leases.expire(now)) > 0) onExpired();
}

/** Lets turns finish for a few seconds, then hands over the rest. */
async function handOver(running: RunningTurns, lane: Lane): Promise<void> {
  const finished = new AbortController();
  const idle = running.untilIdle(lane).then(() => finished.abort());
  await pause(DRAIN_MS, finished.signal);
  for (const turn of running.all()) if (turn.lane === lane) running.control(turn.id)?.handOver();
  await idle;
}
