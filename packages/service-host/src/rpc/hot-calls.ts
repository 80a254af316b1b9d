import type { ConnectRouter } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import { serveCalls } from "@toolgate/call-stream/serve";
import type { HotCall } from "@toolgate/service-registry/service-entry";
import { SERVICE_NAMES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import { rpcName } from "../access.ts";
import { callerOf } from "../identity/caller.ts";
import type { Logger } from "../process/logger.ts";
import type { Service } from "../service.ts";

// biome-ignore lint/suspicious/noExplicitAny: each handler has its own request and response types.
export type AnyHandler = CallHandler<any, any>;

/** A service's hot calls with their handlers. Throws when a handler is missing. */
export function hotCallsOf(name: string, service: Service): readonly (HotCall & { handler: AnyHandler })[] {
  if (!SERVICE_NAMES.includes(name as ServiceName)) return [];
  return serviceEntry(name as ServiceName).hotCalls.map((hotCall) => {
    const handler = service.hotCalls?.[hotCall.method.localName];
    if (!handler) throw new Error(`${name} has no handler for ${hotCall.method.name}`);
    return { ...hotCall, handler };
  });
}

/** All unary RPCs of a service, including its hot calls. */
export function unaryRoutes(name: string, service: Service): (router: ConnectRouter) => void {
  const hotCalls = hotCallsOf(name, service);
  return (router) => {
    service.routes(router);
    for (const { method, handler } of hotCalls) {
      router.rpc(method, (request, call) => handler(request, { caller: callerOf(call) }));
    }
  };
}

interface HotCallStreams {
  routes(router: ConnectRouter): void;
  /** After the drain signal: resolves once the streams have ended, or when no caller can still be waiting. */
  untilIdle(): Promise<void>;
}

/** Serves a service's hot calls over call streams. */
export function hotCallStreams(
  name: string,
  service: Service,
  { log, drainSignal }: { log: Logger; drainSignal: AbortSignal },
): HotCallStreams {
  const streams = hotCallsOf(name, service).map(({ method, stream, timeoutMs, handler }) => {
    const onError = (error: unknown) => log.error({ err: error, rpc: rpcName(method) }, "hot call failed unexpectedly");
    return { stream, timeoutMs, calls: serveCalls({ method, handler, drainSignal, onError }) };
  });
  return {
    routes(router) {
      for (const { stream, calls } of streams) {
        router.rpc(stream, (batches, context) =>
          calls.serve(batches, { signal: context.signal, caller: callerOf(context) }),
        );
      }
    },
    async untilIdle() {
      await Promise.all(streams.map(({ calls, timeoutMs }) => calls.untilIdle(timeoutMs)));
    },
  };
}
