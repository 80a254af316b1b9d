import type { Bus } from "@toolgate/event-bus/connect";
import { unlockedGroups } from "@toolgate/postgres/fair-queue/lock";
import type { Logger } from "@toolgate/service-host/logger";
import type { Loops } from "@toolgate/service-host/loops";
import type { Context } from "../context.ts";
import { runFanOutConsumer } from "../events/fan-out-consumer.ts";
import { QUEUE_TABLES } from "../store/queue.ts";

export function fanOutLoops({ pool, queuePool, fanOut, announceWork, now }: Context, bus: Bus, log: Logger): Loops {
  const onError = (error: unknown) => log.error({ err: error }, "fan-out");
  const unlockedOf = (workspaceIds: readonly string[]) => unlockedGroups(queuePool, QUEUE_TABLES, workspaceIds);
  const options = { bus, pool, fanOut, unlockedOf, announceWork, now, onError };
  return { producers: [(signal) => runFanOutConsumer({ ...options, signal })] };
}
