import type { FastifyInstance } from "fastify";
import { BAD_REQUEST } from "../domain/responses.ts";
import { sendResponse } from "./key-api.ts";
import { offerProblemDetails } from "./problem-details.ts";
import { rejectConnect } from "./unparsable.ts";

/** Requests to which node:http would respond by itself: without a body, or not at all. */
export function replaceNodeDefaults(app: FastifyInstance): void {
  const { server } = app;
  server.on("connect", rejectConnect);
  // An expectation that nobody knows changes nothing, so the request gets the response of any other.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.prependListener("request", offerProblemDetails);
  app.addHook("onRequest", (request, reply, done) => {
    const { httpVersion, headers } = request.raw;
    if (headers.host !== undefined || httpVersion === "1.0") return done();
    sendResponse(reply.header("connection", "close"), BAD_REQUEST);
  });
}
