import { type DescMethodServerStreaming, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createHandlerContext,
  createMethodImplSpec,
  type MethodImpl,
} from "@connectrpc/connect";
import { transformInvokeImplementation } from "@connectrpc/connect/protocol";
import { type OpenStream, serveSharedStreams } from "@toolgate/call-stream/shared-streams/serve";
import type { Open } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import type { SharedStreamsEntry } from "@toolgate/service-registry/service-entry";
import { SERVICE_NAMES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import { REQUEST_ID_HEADER } from "@toolgate/telemetry/request-id";
import { TRACEPARENT_HEADER, TRACESTATE_HEADER } from "@toolgate/telemetry/trace";
import type { Authentication } from "../access.ts";
import { callerOf } from "../identity/caller.ts";
import { SERVICE_TOKEN_HEADER } from "../identity/service-token.ts";
import type { Logger } from "../logger.ts";
import { PRINCIPAL_HEADER } from "../principal.ts";
import type { Service } from "../service.ts";
import { serverInterceptors, TRUSTED_CALLERS } from "./transport.ts";

type AnyImpl = MethodImpl<DescMethodServerStreaming>;

interface SharedStreamsOptions {
  log: Logger;
  authentication: Authentication;
  drainSignal: AbortSignal;
}

/** Serves the shared streams of a service: each goes through the same interceptors as a call of its own. */
export function sharedStreamRoutes(
  name: string,
  service: Service,
  options: SharedStreamsOptions,
): (router: ConnectRouter) => void {
  const entry = SERVICE_NAMES.includes(name as ServiceName)
    ? serviceEntry(name as ServiceName).sharedStreams
    : undefined;
  if (!entry) return () => {};
  const impls = implementationsOf(service);
  // A process whose roles serve no RPCs has none.
  if (impls.size === 0) return () => {};
  const openerFor = openers(entry, impls, options);
  return (router) => {
    router.rpc(entry.stream, (batches, context) =>
      serveSharedStreams(openerFor(callerOf(context)), options.drainSignal)(batches, context),
    );
  };
}

/** The implementations of a service's RPCs, by the full name of the service and the local name of the RPC. */
function implementationsOf(service: Service): Map<string, AnyImpl> {
  const impls = new Map<string, AnyImpl>();
  const router: Pick<ConnectRouter, "service"> = {
    service(desc, methods) {
      for (const [local, impl] of Object.entries(methods)) impls.set(`${desc.typeName}/${local}`, impl as AnyImpl);
      return router as ConnectRouter;
    },
  };
  service.routes(router as ConnectRouter);
  return impls;
}

/** Opens streams for the service that has opened the connection. */
function openers(
  { methods }: SharedStreamsEntry,
  impls: ReadonlyMap<string, AnyImpl>,
  { log, authentication }: SharedStreamsOptions,
): (caller: ServiceName) => OpenStream {
  const interceptors = serverInterceptors(log, { ...authentication, callers: TRUSTED_CALLERS });
  const served = new Map(
    methods.map((method) => {
      const impl = impls.get(`${method.parent.typeName}/${method.localName}`);
      if (!impl) throw new Error(`there is no handler for ${method.name}`);
      return [method.name, { method, spec: createMethodImplSpec(method, impl) }];
    }),
  );
  return (caller) =>
    async function* open(call, signal) {
      const found = served.get(call.rpc);
      if (!found) throw new ConnectError(`there is no shared stream ${call.rpc}`, Code.Unimplemented);
      const { method, spec } = found;
      const context = createHandlerContext({
        service: method.parent,
        method,
        protocolName: "shared-stream",
        requestMethod: "POST",
        url: `http://shared-stream/${method.parent.typeName}/${method.name}`,
        requestHeader: headersOf(call, caller),
        requestSignal: signal,
      });
      const request = fromBinary(method.input, call.request);
      try {
        for await (const message of transformInvokeImplementation(spec, context, interceptors)(only(request)))
          yield toBinary(method.output, message);
      } finally {
        context.abort();
      }
    };
}

/** The token of the caller was verified when it opened the connection. */
function headersOf({ principal, requestId, traceparent, tracestate }: Open, caller: ServiceName): Headers {
  const headers = new Headers({ [SERVICE_TOKEN_HEADER]: caller });
  if (principal !== "") headers.set(PRINCIPAL_HEADER, principal);
  if (requestId !== "") headers.set(REQUEST_ID_HEADER, requestId);
  if (traceparent !== "") headers.set(TRACEPARENT_HEADER, traceparent);
  if (tracestate !== "") headers.set(TRACESTATE_HEADER, tracestate);
  return headers;
}

async function* only<T>(message: T): AsyncGenerator<T> {
  yield message;
}
