import type { Bus } from "@toolgate/event-bus/connect";
import { createWakeUp, onWork } from "@toolgate/event-bus/wake-up";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { isAnyGroupDue } from "@toolgate/postgres/fair-queue/claim";
import { createRedactor } from "@toolgate/redaction/redactor";
import type { Logger } from "@toolgate/service-host/logger";
import type { Loops } from "@toolgate/service-host/loops";
import type { Peers } from "@toolgate/service-host/peers";
import { lockCheckOfRuns } from "../clients/workspace-lock.ts";
import type { RunnerConfig } from "../config.ts";
import { type Context, wakeUpOf } from "../context.ts";
import { laneLoops } from "../running/lane.ts";
import { createRunAssistant } from "../running/run-assistant.ts";
import { createRunDelivery } from "../running/run-delivery.ts";
import type { RunTarget } from "../running/run-target.ts";
import { createRunTool } from "../running/run-tool.ts";
import type { Lane } from "../store/queue.ts";
import { createClaimDeliveries } from "../store/runs/claim.ts";
import { createLeases } from "../store/runs/lease.ts";
import { createSettleRuns } from "../store/runs/settle.ts";
import { createUndoClaim } from "../store/runs/undo-claim.ts";

export interface RunnerOptions {
  config: RunnerConfig;
  bus: Bus;
  log: Logger;
  peers: Peers;
}

/** Runs the targets of accepted calls, in a lane for tools and one for assistants. */
export function runnerLoops(context: Context, options: RunnerOptions, resources: AsyncDisposableStack): Loops {
  const { config, bus, log, peers } = options;
  const { queuePool, queues, now } = context;
  const redact = createRedactor();
  const isWorkspaceLocked = lockCheckOfRuns(peers);
  const lane = (name: Lane, concurrency: number, runTarget: RunTarget): Loops => {
    const onError = (error: unknown) => log.error({ err: error, lane: name }, "hook run");
    const wakeUp = createWakeUp();
    resources.use(onWork(bus, wakeUpOf(name), () => wakeUp.signal()));
    const queue = queues[name];
    const settling = createSettleRuns(queuePool, queue);
    return laneLoops({
      isDue: (at) => isAnyGroupDue(queuePool, queue.tables, at),
      claim: createClaimDeliveries(queuePool, queue),
      undoClaim: createUndoClaim(queuePool, queue, settling),
      settling,
      leases: createLeases(queuePool, queue),
      run: createRunDelivery({ lane: name, isWorkspaceLocked, runTarget, redact, now, onError }),
      perWorkspace: queue.caps.perGroup,
      concurrency,
      wakeUp,
      now,
      onError,
    });
  };
  const warn = (error: unknown) => log.warn({ err: error }, "the target of a hook could not be run");
  const runTool = createRunTool({ run: peers.call(RunService.method.run), redact, onError: warn });
  const runAssistant = createRunAssistant({ chat: peers.transport("chat"), onError: warn });
  const lanes = [
    lane("tool", config.toolConcurrency, runTool),
    lane("assistant", config.assistantConcurrency, runAssistant),
  ];
  return {
    producers: lanes.flatMap(({ producers }) => producers),
    consumers: lanes.flatMap(({ consumers = [] }) => consumers),
  };
}
