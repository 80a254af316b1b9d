import { setImmediate } from "node:timers/promises";
import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type Transport,
} from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { compressionGzip } from "@connectrpc/connect-node";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { OverviewService } from "@toolgate/gen/toolgate/gateway/v1/overview_pb";
import { canonicalIp } from "@toolgate/ip-address/ip-address";
import { callableFromOutside, rpcName } from "@toolgate/service-host/access";
import { errorForCaller, errorInterceptor } from "@toolgate/service-host/errors";
import type { Logger } from "@toolgate/service-host/logger";
import type { Peers } from "@toolgate/service-host/peers";
import { CLIENT_ADDRESS_HEADER, PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import { SERVICE_NAMES, SERVICES, type ServiceName } from "@toolgate/service-registry/services";
import type { Slots } from "@toolgate/slots/slots";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ERROR_CODE_HEADER } from "../../domain/error-codes.ts";
import { RETRY_AFTER_HEADER } from "../../domain/responses.ts";
import { containsNul } from "../../domain/text.ts";
import { BUSY_RETRY_AFTER_S, takeSlot, whenClosed } from "../slots.ts";
import { upstreamResponse } from "../upstream-response.ts";
import { type Admit, type AdmittedRequest, createAdmit, MAX_BYTES } from "./admitted-request.ts";
import { errorCodeInterceptor, nameErrors, sendRpcError } from "./error-code.ts";
import { overviewTransport } from "./overview.ts";

/** The proto services that have RPCs for people, each with the service that serves it. */
export const MANAGED_SERVICES: readonly (readonly [ServiceName, DescService])[] = [
  ...SERVICE_NAMES.flatMap((name) =>
    SERVICES[name].rpcs
      // Chats have paths of their own, which check more.
      .filter((rpc) => callableFromOutside(rpc).length > 0 && rpc !== ChatService)
      .map((rpc) => [name, rpc] as const),
  ),
  ["gateway", OverviewService],
];
const METHODS: ReadonlyMap<string, DescMethod> = new Map(
  MANAGED_SERVICES.flatMap(([, rpc]) => callableFromOutside(rpc)).map((method) => [`/${rpcName(method)}`, method]),
);

const JSON_TYPE = /^application\/json *(;|$)/i;
const TIMEOUT_MS = 20_000;

const admittedKey = createContextKey<AdmittedRequest | undefined>(undefined);
const addressKey = createContextKey("");

declare module "fastify" {
  interface FastifyRequest {
    /** Of a management request. */
    admitted: AdmittedRequest;
  }
}

type UnaryClient = Record<string, (request: Message, options: object) => Promise<Message>>;
type UnaryHandler = (request: Message, context: HandlerContext) => Promise<Message>;

/**
 * Offers the management RPCs of all services as Connect, in JSON over POST only. The gateway finds out who calls; the
 * services decide what that role may do.
 */
export function managementRoutes(peers: Pick<Peers, "transport">, slots: Slots, log: Logger) {
  const admit = createAdmit(peers.transport("key-auth"), log);
  return async (app: FastifyInstance): Promise<void> => {
    app.decorateRequest("admitted");
    app.addHook("onRequest", async (request, reply) => {
      if (request.method !== "POST") {
        const message = "POST is the only method";
        reply.header(ERROR_CODE_HEADER, "UNIMPLEMENTED");
        return reply.code(405).header("allow", "POST").send({ code: "unimplemented", message });
      }
      if (JSON_TYPE.test(request.headers["content-type"] ?? "")) return nameErrors(reply.raw);
      const message = "Content-Type must be application/json";
      reply.header(ERROR_CODE_HEADER, "UNSUPPORTED_MEDIA_TYPE");
      return reply.code(415).header("accept-post", "application/json").send({ code: "invalid_argument", message });
    });
    app.addHook("preHandler", (request, reply) => admitted(admit, request, reply, log));
    await app.register(fastifyConnectPlugin, {
      routes: (router) => {
        for (const [name, rpc] of MANAGED_SERVICES) {
          const transport = name === "gateway" ? overviewTransport(peers, log) : peers.transport(name);
          offer(router, rpc, transport, { slots, log });
        }
      },
      contextValues: (request) =>
        // A client that has disconnected has no address any more.
        createContextValues()
          .set(admittedKey, request.admitted)
          .set(addressKey, canonicalIp(request.ip ?? "")),
      interceptors: [errorCodeInterceptor, errorInterceptor(log)],
      readMaxBytes: MAX_BYTES,
      acceptCompression: [compressionGzip],
      // A misspelled field could be a restriction, so it must not be ignored.
      jsonOptions: { ignoreUnknownFields: false },
      grpc: false,
      grpcWeb: false,
    });
  };
}

/** Until here, Connect has read nothing of the request. */
async function admitted(
  admit: Admit,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Logger,
): Promise<FastifyReply | undefined> {
  reply.header("cache-control", "no-store");
  const method = METHODS.get(request.routeOptions.url ?? "");
  // The services' other RPCs, which are not for people, have routes too.
  if (!method) return sendRpcError(reply, new ConnectError("there is no such RPC", Code.Unimplemented));
  try {
    request.admitted = await admit(method, request, reply);
  } catch (error) {
    return sendRpcError(reply, errorForCaller(error, { rpc: rpcName(method), signal: whenClosed(reply.raw), log }));
  }
  // Connect parses bytes that it is given, and decompresses only what it reads itself.
  request.body = request.admitted.body;
  return undefined;
}

function offer(
  router: ConnectRouter,
  service: DescService,
  transport: Transport,
  { slots, log }: { slots: Slots; log: Logger },
): void {
  const client = createClient(service, transport) as unknown as UnaryClient;
  const handlers: Record<string, UnaryHandler> = {};
  for (const method of callableFromOutside(service)) {
    const call = client[method.localName] as UnaryClient[string];
    handlers[method.localName] = async (request, { signal, values }) => {
      if (containsNul(request)) throw new ConnectError("NUL is not allowed in text", Code.InvalidArgument);
      const headers = new Headers({ [CLIENT_ADDRESS_HEADER]: values.get(addressKey) });
      const options = { headers, timeoutMs: TIMEOUT_MS };
      const admitted = values.get(admittedKey);
      if (!admitted?.workspaceId) return upstreamResponse(call(request, { ...options, signal }), { signal, log });
      headers.set(PRINCIPAL_HEADER, admitted.principal);
      const slot = await takeSlot(slots, admitted.workspaceId, admitted.response);
      if (!slot) throw busy();
      // A service finishes its queries even for a client that has disconnected, so the slot is held until then.
      const working = call(request, options).finally(() => slot[Symbol.dispose]());
      const response = await upstreamResponse(whileWanted(working, signal), { signal, log });
      // To encode a large page takes as long as to decode it: others get on with their work in between.
      await setImmediate();
      return response;
    };
  }
  router.service(service as DescService & { typeName: string }, handlers as Record<string, never>);
}

function busy(): ConnectError {
  const headers = { [RETRY_AFTER_HEADER]: String(BUSY_RETRY_AFTER_S) };
  return new ConnectError("the server is busy: try again", Code.ResourceExhausted, headers);
}

/** The result of work that goes on when the signal fires. Whoever waits for it gets the signal's reason then. */
async function whileWanted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: unwanted, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  try {
    return await Promise.race([work, unwanted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
