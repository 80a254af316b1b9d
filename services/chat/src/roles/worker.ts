import type { Bus } from "@toolgate/event-bus/connect";
import { createGroupCommit } from "@toolgate/event-bus/group-commit";
import { createWakeUp, onWork } from "@toolgate/event-bus/wake-up";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { runEvery } from "@toolgate/service-host/every";
import type { Loop, Loops } from "@toolgate/service-host/loops";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { createCallBuilderTool } from "../clients/builder-tools.ts";
import type { Context } from "../context.ts";
import { LANES, type Lane } from "../store/queue.ts";
import { expireLeases, releaseTurn } from "../store/turns/leases.ts";
import { refuseWaiting } from "../store/turns/refuse.ts";
import { type TurnWrite, writeTurns } from "../store/turns/write.ts";
import { finishResets } from "../store/unfinished-resets.ts";
import { createQueueSlots, UNLIMITED } from "../turns/queue-slots.ts";
import { createSignals, onStop, wakeUpOf } from "../turns/signals.ts";
import { runClaims } from "../turns/worker/claim-loop.ts";
import { createLargeTurns } from "../turns/worker/large-turns.ts";
import { runTurn, type TurnDependencies } from "../turns/worker/run-turn.ts";
import { createRunningTurns } from "../turns/worker/running-turns.ts";

interface WorkerOptions {
  turnsPerWorker: number;
  bus: Bus;
  log: Logger;
  peers: Peers;
}

const SWEEP_EVERY_MS = 1_000;
const RENEW_EVERY_MS = 2_500;
/** Writes that share a transaction, and their bytes. */
const MAX_WRITES = 500;
const MAX_WRITE_BYTES = 4 * 1024 * 1024;

/** Runs turns: claims them, answers, and hands over the unfinished ones when the process stops. */
export function workerLoops(
  context: Context,
  { turnsPerWorker, bus, log, peers }: WorkerOptions,
  resources: AsyncDisposableStack,
): Loops {
  const { pool, queuePool, leasePool, queues, now } = context;
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const signals = createSignals(bus);
  const inQueue = createQueueSlots(UNLIMITED);
  const wakeUps = { chat: createWakeUp(), hook: createWakeUp() };
  for (const lane of LANES) resources.use(onWork(bus, wakeUpOf(lane), () => wakeUps[lane].signal()));
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
  const deps: TurnDependencies = {
    ...context,
    inQueue,
    writer,
    signals,
    largeTurns: createLargeTurns(),
    runTool: peers.call(RunService.method.run),
    callBuilderTool: createCallBuilderTool(peers.transport("tool-runner")),
    onError: onError("turn"),
  };
  const running = resources.use(
    createRunningTurns({
      run: (turn, control) => runTurn(deps, turn, control),
      async onEnd(turn, handOver) {
        const { lane, workspaceId } = turn;
        wakeUps[lane].signal();
        if (!handOver) return;
        await inQueue(workspaceId, () => releaseTurn(queuePool, queues[lane], turn));
        signals.announceTurns(lane);
      },
      onError: onError("turn"),
    }),
  );
  resources.use(onStop(bus, running.stop));

  const claims = (lane: Lane): Loop => {
    const options = { pool: queuePool, queue: queues[lane], running, maxTurns: turnsPerWorker, now };
    return async (signal) => {
      await runClaims({ ...options, wakeUp: wakeUps[lane], signal, onError: onError(`${lane} turns`) });
      await running.drain(lane);
    };
  };
  const expire = (lane: Lane) => async () => {
    if ((await expireLeases(queuePool, queues[lane], now())) > 0) wakeUps[lane].signal();
  };
  const refuse = async () => {
    for (const turn of await refuseWaiting(pool, now())) signals.publish(turn, turn.id, []);
  };
  const sweep =
    (job: (signal: AbortSignal) => Promise<void>): Loop =>
    (signal) =>
      runEvery(SWEEP_EVERY_MS, signal, () => job(signal), onError("sweep"));
  return {
    producers: [
      ...LANES.map(claims),
      ...LANES.map((lane) => sweep(expire(lane))),
      sweep(refuse),
      sweep((signal) => finishResets(pool, now, signal)),
    ],
    // Renews leases until all turns have ended.
    consumers: [(signal) => runEvery(RENEW_EVERY_MS, signal, () => running.renew(leasePool, now()), onError("leases"))],
  };
}
