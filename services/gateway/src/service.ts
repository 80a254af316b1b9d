import { connectBus } from "@toolgate/event-bus/connect";
import type { Logger } from "@toolgate/service-host/logger";
import type { Service } from "@toolgate/service-host/service";
import { createVerifyKey, type VerifyCall } from "./clients/key-auth.ts";
import { createRunTool, type RunCall } from "./clients/tool-runner.ts";
import type { Config } from "./config.ts";
import { createUsageRecorder } from "./events/usage-recorder.ts";
import type { Upstreams } from "./http/management-routes.ts";
import { createHttpServer } from "./http/server.ts";

export interface GatewayDependencies {
  log: Logger;
  /** The hot calls: streams to the services, or the services' handlers in this process. */
  verify: VerifyCall;
  run: RunCall;
  upstreams: Upstreams;
  now?: () => number;
}

export interface Gateway extends Service {
  readonly port: number;
}

export async function startGateway(config: Config, deps: GatewayDependencies): Promise<Gateway> {
  const { log, upstreams, now = Date.now } = deps;
  await using resources = new AsyncDisposableStack();
  const bus = resources.use(
    await connectBus({ servers: config.natsUrl, name: "gateway", log: (message) => log.warn(message) }),
  );
  const calls = {
    verifyKey: createVerifyKey(deps.verify),
    runTool: createRunTool(deps.run),
    usage: resources.use(createUsageRecorder(bus)),
    log,
    now,
  };
  const app = await createHttpServer({ ...config, calls, upstreams, log });
  await app.listen({ host: config.host, port: config.port });
  // Closing answers the calls under way and closes idle connections.
  resources.defer(() => app.close());
  const address = app.server.address();
  const owned = resources.move();
  return {
    port: typeof address === "object" && address ? address.port : config.port,
    routes() {},
    async ready() {
      if (bus.nc.isClosed()) throw new Error("the connection to NATS is closed");
    },
    async drain() {
      const cut = setTimeout(() => app.server.closeAllConnections(), config.drainMs);
      await app.close().finally(() => clearTimeout(cut));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
