import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { ToolCallDependencies } from "./tool-call.ts";
import { refuseMethod } from "./tool-routes.ts";

/** A path that has one method; all others are refused before anything of the request is read. [ERR-13] [ERR-14] */
export function onlyMethod(
  app: FastifyInstance,
  deps: ToolCallDependencies,
  { method, url, handler }: { method: "GET" | "POST"; url: string; handler: RouteHandlerMethod },
): void {
  app.route({ method, url, handler });
  app.route({
    method: app.supportedMethods.filter((supported) => supported !== method),
    url,
    onRequest: (request, reply) => refuseMethod(deps, request, reply, method),
    handler: async (_, reply) => reply,
  });
}
