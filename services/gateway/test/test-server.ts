import { createRouterTransport, type Transport } from "@connectrpc/connect";
import { createLogger } from "@toolgate/service-host/logger";
import type { CallContext } from "../src/context.ts";
import { createHttpServer, type HttpServerOptions } from "../src/http/server.ts";

const notExpected = () => Promise.reject(new Error("not expected in this test"));

/** The gateway's HTTP server alone; whatever a test does not set fails when it is called. */
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
  const log = createLogger({ service: "gateway", level: "silent" });
  return createHttpServer({
    calls: {
      verifyKey: notExpected,
      runTool: notExpected,
      usage: { add: async () => {}, async [Symbol.asyncDispose]() {} },
      log,
      now: Date.now,
      ...calls,
    },
    peers: { transport: (name) => transports[name] ?? noRpcs },
    trustedProxies: [],
    publicUrl: "",
    requestTimeoutMs: 30_000,
    log,
    ...options,
  });
}
