import { ReceiveService } from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { openConnections } from "@toolgate/service-host/connections";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { type Config, NEEDS, readConfig } from "./config.ts";
import { closeConnections } from "./http/close-connections.ts";
import { createHttpServer } from "./http/server.ts";
import { createGatewaySlots } from "./http/slots.ts";
import { createUsageRecorder } from "./http/tools/verified-call.ts";

const NAME = "gateway";

interface Gateway extends Service {
  /** Where it serves HTTP. */
  readonly port: number;
}

export const service: ServiceDefinition<Config> = { name: NAME, readConfig, start };

export async function start(config: Config, { log, now, peers }: ServiceHost): Promise<Gateway> {
  await using resources = new AsyncDisposableStack();
  const { bus } = await openConnections({ name: NAME, needs: NEEDS, log }, config, resources);
  const calls = {
    verify: peers.call(VerifyService.method.verify),
    run: peers.call(RunService.method.run),
    usage: resources.use(createUsageRecorder(bus)),
    slots: createGatewaySlots(),
    log,
    now,
  };
  const receiveHook = peers.call(ReceiveService.method.receive);
  const app = await createHttpServer({ ...config, calls, receiveHook, peers, bus, log });
  await app.listen({ host: config.host, port: config.port });
  // Closing waits for the calls under way and closes idle connections.
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
      await closeConnections(app.server, Math.min(config.drainIdleMs, config.drainMs));
      await app.close().finally(() => clearTimeout(cut));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
