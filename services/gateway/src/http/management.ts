import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { errorInterceptor } from "@toolgate/service-host/errors";
import type { Logger } from "@toolgate/service-host/logger";
import type { Peers } from "@toolgate/service-host/peers";
import type { FastifyInstance } from "fastify";
import { callerOfRequest } from "./login-of-request.ts";
import { managementRoutes } from "./management-routes.ts";

const MAX_BYTES = 2 * 1024 * 1024;
const JSON_TYPE = /^application\/json *(;|$)/i;

/** The management API: Connect, in JSON alone, which is what a person with curl and a browser speak. */
export function management(peers: Pick<Peers, "transport">, log: Logger) {
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook("onRequest", async (request, reply) => {
      if (request.method !== "POST") {
        return reply
          .code(405)
          .header("allow", "POST")
          .send({ code: "unimplemented", message: "POST is the only method" });
      }
      if (JSON_TYPE.test(request.headers["content-type"] ?? "")) return;
      const message = "Content-Type must be application/json";
      return reply.code(415).header("accept-post", "application/json").send({ code: "invalid_argument", message });
    });
    await app.register(fastifyConnectPlugin, {
      routes: managementRoutes(peers, log),
      contextValues: callerOfRequest,
      interceptors: [errorInterceptor(log)],
      readMaxBytes: MAX_BYTES,
      // A member that is misspelt must not be taken for one that was left out: it may be a restriction.
      jsonOptions: { ignoreUnknownFields: false },
      grpc: false,
      grpcWeb: false,
    });
  };
}
