import type { DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import {
  type Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus as Status,
} from "@toolgate/gen/grpc/health/v1/health_pb";
import { pause } from "../every.ts";
import type { Readiness } from "../process/readiness.ts";

const WATCH_EVERY_MS = 1_000;

interface HealthOptions {
  readiness: Readiness;
  /** Each reports the health of the whole process. */
  services: readonly DescService[];
  /** Ends the streams of `Watch`. */
  closing: AbortSignal;
}

/** gRPC's health protocol, grpc.health.v1, for Kubernetes' gRPC probes and load balancers. */
export function healthService({ readiness, services, closing }: HealthOptions): ServiceImpl<typeof Health> {
  // The empty name is the process as a whole.
  const names = ["", ...services.map((service) => service.typeName)];
  const known = new Set(names);
  const status = async () => ((await readiness.reasonNotReady()) === undefined ? Status.SERVING : Status.NOT_SERVING);
  return {
    async check({ service }) {
      if (!known.has(service)) throw new ConnectError("unknown service", Code.NotFound);
      return { status: await status() };
    },
    async list() {
      const current = await status();
      return { statuses: Object.fromEntries(names.map((name) => [name, { status: current }])) };
    },
    async *watch({ service }: HealthCheckRequest, call) {
      const ended = AbortSignal.any([call.signal, closing]);
      const endedOrDraining = AbortSignal.any([ended, readiness.draining]);
      let reported: Status | undefined;
      while (!ended.aborted) {
        const current = known.has(service) ? await status() : Status.SERVICE_UNKNOWN;
        if (current !== reported) yield { status: current };
        reported = current;
        await pause(WATCH_EVERY_MS, readiness.draining.aborted ? ended : endedOrDraining);
      }
    },
  };
}
