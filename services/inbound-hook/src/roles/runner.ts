import type { Bus } from "@toolgate/event-bus/connect";
import { createWakeUp, onWork } from "@toolgate/event-bus/wake-up";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { createRedactor } from "@toolgate/redaction/redactor";
import { adminNoticeLoop } from "@toolgate/service-host/admin-notices";
import type { Loops } from "@toolgate/service-host/loops";
import type { ServiceHost } from "@toolgate/service-host/service";
import { lockCheckOfRuns } from "../clients/workspace-lock.ts";
import type { RunnerConfig } from "../config.ts";
import { type Context, wakeUpOf } from "../context.ts";
import { failingHookNotices } from "../events/failing-hook-notices.ts";
import { laneLoops } from "../running/lane.ts";
import { createRunAssistant } from "../running/run-assistant.ts";
import { createRunDelivery } from "../running/run-delivery.ts";
import type { RunTarget } from "../running/run-target.ts";
import { createRunTool } from "../running/run-tool.ts";
import type { Lane } from "../store/queue.ts";

interface RunnerOptions {
  config: RunnerConfig;
  bus: Bus;
  host: Pick<ServiceHost, "log" | "peers">;
}

/**
 * Runs the targets of accepted calls, in a lane for tools and one for assistants, and emails admins about hooks that fail
 * every verification, if there is an SMTP server.
 */
export function runnerLoops(context: Context, options: RunnerOptions, resources: AsyncDisposableStack): Loops {
  const { config, bus, host } = options;
  const { log, peers } = host;
  const { pool, stores, now } = context;
  const redact = createRedactor();
  const isWorkspaceLocked = lockCheckOfRuns(peers);
  const lane = (name: Lane, concurrency: number, runTarget: RunTarget): Loops => {
    const onError = (error: unknown) => log.error({ err: error, lane: name }, "hook run");
    const wakeUp = createWakeUp();
    resources.use(onWork(bus, wakeUpOf(name), () => wakeUp.signal()));
    const run = createRunDelivery({ lane: name, isWorkspaceLocked, runTarget, redact, now, onError });
    return laneLoops({ store: stores[name], run, concurrency, wakeUp, now, onError });
  };
  const warn = (error: unknown) => log.warn({ err: error }, "the target of a hook could not be run");
  const runTool = createRunTool({ run: peers.call(RunService.method.run), redact, onError: warn });
  const runAssistant = createRunAssistant({ chat: peers.transport("chat"), onError: warn });
  const lanes = [
    lane("tool", config.toolConcurrency, runTool),
    lane("assistant", config.assistantConcurrency, runAssistant),
  ];
  const producers = lanes.flatMap((loops) => loops.producers);
  if (config.mail) {
    const onError = (error: unknown) => log.error({ err: error }, "notice email");
    const notices = { mail: config.mail, peers, now, onError };
    producers.push(adminNoticeLoop(failingHookNotices(pool), notices, resources));
  } else log.warn("SMTP_URL is not set: email about failing hooks waits");
  return { producers, consumers: lanes.flatMap(({ consumers = [] }) => consumers) };
}
