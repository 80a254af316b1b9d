import type { Bus } from "@toolgate/event-bus/connect";
import type { Logger } from "@toolgate/service-host/logger";
import type { Loops } from "@toolgate/service-host/loops";
import type { Context } from "../context.ts";
import { runFanOutConsumer } from "../events/fan-out-consumer.ts";

export function fanOutLoops({ pool, fanOut, announceWork, now }: Context, bus: Bus, log: Logger): Loops {
  const onError = (error: unknown) => log.error({ err: error }, "fan-out");
  const options = { bus, pool, fanOut, announceWork, now, onError };
  return { producers: [(signal) => runFanOutConsumer({ ...options, signal })] };
}
