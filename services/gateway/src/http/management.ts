import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { errorInterceptor } from "@toolgate/service-host/errors";
import type { Logger } from "@toolgate/service-host/logger";
import type { FastifyInstance } from "fastify";
import { callerOfRequest } from "./login-of-request.ts";
import { managementRoutes, type Upstreams } from "./management-routes.ts";

const MAX_BYTES = 2 * 1024 * 1024;
const JSON_TYPE = /^application\/json *(;|$)/i;

/** The management API: Connect, in JSON alone, which is what a person with curl and a browser speak. */
export function management(upstreams: Upstreams, log: Logger) {
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook("onRequest", async (request, reply) => {
      if (request.method !== "POST" || JSON_TYPE.test(request.headers["content-type"] ?? "")) return;
      return reply.code(415).header("accept-post", "application/json").send();
    });
    await app.register(fastifyConnectPlugin, {
      routes: managementRoutes(upstreams, log),
      contextValues: callerOfRequest,
      interceptors: [errorInterceptor(log)],
      readMaxBytes: MAX_BYTES,
      grpc: false,
      grpcWeb: false,
    });
  };
}
