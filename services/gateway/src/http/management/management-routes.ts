import { setImmediate } from "node:timers/promises";
import { type DescMethodUnary, type DescService, type Message, toJson } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, type Transport } from "@connectrpc/connect";
import { compressionNegotiate } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { OverviewService } from "@toolgate/gen/toolgate/gateway/v1/overview_pb";
import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { canonicalIp } from "@toolgate/ip-address/ip-address";
import { callableFromOutside, rpcName } from "@toolgate/service-host/access";
import { CLIENT_ADDRESS_HEADER, PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { SERVICE_NAMES, SERVICES, type ServiceName } from "@toolgate/service-registry/services";
import type { Slots } from "@toolgate/slots/slots";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ERROR_CODE_HEADER } from "../../domain/error-codes.ts";
import { BUSY_RETRY_AFTER_S, RETRY_AFTER_HEADER } from "../../domain/responses.ts";
import { takeSlot, whenClosed } from "../slots.ts";
import { readRequest } from "./management-request.ts";
import { overviewTransport } from "./overview.ts";
import { sendRpcError } from "./rpc-error.ts";

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

const JSON_TYPE = /^application\/json *(;|$)/i;
const TIMEOUT_MS = 20_000;
const COMPRESSED_FROM_BYTES = 1024;

interface ManagementOptions {
  peers: Peers;
  sessions: Client<typeof SessionService>;
  slots: Slots;
  log: Logger;
}

/**
 * Offers the management RPCs of all services as Connect, in JSON over POST only. The gateway finds out who calls; the
 * services decide what that role may do.
 */
export function managementRoutes({ peers, sessions, slots, log }: ManagementOptions) {
  async function respond(
    method: DescMethodUnary,
    transport: Transport,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    // A client that has disconnected has no address any more.
    const headers = new Headers({ [CLIENT_ADDRESS_HEADER]: canonicalIp(request.ip ?? "") });
    const signal = whenClosed(reply.raw);
    try {
      const { message, workspaceId, principal } = await readRequest(sessions, method, request);
      const call = async (until?: AbortSignal) =>
        (await transport.unary(method, until, TIMEOUT_MS, headers, message)).message;
      if (workspaceId === "") return await sendMessage(request, reply, method, await call(signal));
      headers.set(PRINCIPAL_HEADER, principal);
      using slot = await takeSlot(slots, workspaceId, reply.raw);
      if (!slot) throw busy();
      // A service finishes its queries even for a client that has disconnected, so the slot is held until then.
      return await sendMessage(request, reply, method, await call());
    } catch (error) {
      return sendRpcError(reply, error, { rpc: rpcName(method), signal, log });
    }
  }

  return async (app: FastifyInstance): Promise<void> => {
    app.addHook("onRequest", async (request, reply) => {
      reply.header("cache-control", "no-store");
      if (request.method !== "POST") {
        const message = "POST is the only method";
        reply.header(ERROR_CODE_HEADER, "UNIMPLEMENTED");
        return reply.code(405).header("allow", "POST").send({ code: "unimplemented", message });
      }
      if (JSON_TYPE.test(request.headers["content-type"] ?? "")) return undefined;
      const message = "Content-Type must be application/json";
      reply.header(ERROR_CODE_HEADER, "UNSUPPORTED_MEDIA_TYPE");
      return reply.code(415).header("accept-post", "application/json").send({ code: "invalid_argument", message });
    });
    for (const [name, service] of MANAGED_SERVICES) {
      const transport = name === "gateway" ? overviewTransport(peers, log) : peers.transport(name);
      const offered = callableFromOutside(service);
      for (const method of service.methods) {
        const rpc = rpcName(method);
        app.all(`/${rpc}`, (request, reply) => {
          if (offered.includes(method)) return respond(method as DescMethodUnary, transport, request, reply);
          // The services' other RPCs are not for people.
          const error = new ConnectError("there is no such RPC", Code.Unimplemented);
          return sendRpcError(reply, error, { rpc, signal: whenClosed(reply.raw), log });
        });
      }
    }
  };
}

async function sendMessage(
  request: FastifyRequest,
  reply: FastifyReply,
  { output }: DescMethodUnary,
  message: Message,
): Promise<FastifyReply> {
  // To encode a large page takes as long as to decode it: others get on with their work in between.
  await setImmediate();
  const body = Buffer.from(JSON.stringify(toJson(output, message)));
  reply.header("content-type", "application/json");
  const accepted = String(request.headers["accept-encoding"] ?? "");
  const { response: compression } = compressionNegotiate([compressionGzip], null, accepted, "accept-encoding");
  if (!compression || body.byteLength < COMPRESSED_FROM_BYTES) return reply.send(body);
  reply.header("content-encoding", compression.name);
  return reply.send(Buffer.from(await compression.compress(body)));
}

function busy(): ConnectError {
  const headers = { [RETRY_AFTER_HEADER]: String(BUSY_RETRY_AFTER_S) };
  return new ConnectError("the server is busy: try again", Code.ResourceExhausted, headers);
}
