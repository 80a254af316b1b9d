import { createRouterTransport, type Transport } from "@connectrpc/connect";
import type { Bus } from "@toolgate/event-bus/connect";
import { createLogger } from "@toolgate/service-host/process/logger";
import { hotCallOf } from "@toolgate/service-host/rpc/peers";
import type { FastifyInstance } from "fastify";
import type { CallContext } from "../src/context.ts";
import { ANSWER_LIMITS } from "../src/domain/chat/open-answers.ts";
import { createHttpServer, type HttpServerOptions } from "../src/http/server.ts";
import { createGatewaySlots } from "../src/http/slots.ts";

const notExpected = () => Promise.reject(new Error("not expected in this test"));

/** Only the gateway's HTTP server; peers that a test does not set fail when they are called. Streams of chats need a bus. */
export function testServer({
  calls = {},
  transports = {},
  ...options
}: Partial<Omit<HttpServerOptions, "calls" | "peers">> & {
  calls?: Partial<CallContext>;
  /** The peers that the test replaces, by name. */
  transports?: Record<string, Transport>;
}) {
  const noRpcs = createRouterTransport(() => {});
  const transport = (name: string) => transports[name] ?? noRpcs;
  const log = createLogger({ service: "gateway", level: "silent" });
  return createHttpServer({
    calls: {
      verify: notExpected,
      run: notExpected,
      usage: { add: async () => {}, async [Symbol.asyncDispose]() {} },
      slots: createGatewaySlots(),
      log,
      now: Date.now,
      ...calls,
    },
    peers: {
      transport,
      call: (method) => async (request) =>
        (await transport(hotCallOf(method).service).unary(method, undefined, undefined, undefined, request)).message,
    },
    answerLimits: ANSWER_LIMITS,
    trustedProxies: [],
    receiveHook: notExpected,
    publicUrl: "",
    requestTimeoutMs: 30_000,
    log,
    bus: {} as Bus,
    ...options,
  });
}

/** Lets the server listen on a free port, and returns it. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  return (app.server.address() as { port: number }).port;
}
