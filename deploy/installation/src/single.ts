import { directCall } from "@toolgate/call-stream/direct";
import { gatewayConfig } from "@toolgate/gateway/config";
import { startGateway } from "@toolgate/gateway/service";
import { keyAuthConfig } from "@toolgate/key-auth/config";
import { startKeyAuth } from "@toolgate/key-auth/service";
import { createListAdminEmails } from "@toolgate/outbound-webhook/clients/admin-emails";
import { outboundWebhookConfig } from "@toolgate/outbound-webhook/config";
import { startOutboundWebhook } from "@toolgate/outbound-webhook/service";
import type { Env } from "@toolgate/service-host/env";
import type { Logger } from "@toolgate/service-host/logger";
import { localTransport } from "@toolgate/service-host/transport";
import { toolRunnerConfig } from "@toolgate/tool-runner/config";
import { startToolRunner } from "@toolgate/tool-runner/service";

/** All services in this process. */
export interface SingleInstallation extends AsyncDisposable {
  /** Where the gateway listens. */
  readonly port: number;
  ready(): Promise<void>;
  /** Stops taking calls and deliveries, and waits for those under way. */
  drain(): Promise<void>;
}

/**
 * The single topology: every service started from the same environment as in its own process, hot calls as function
 * calls, the rest through the same routes and interceptors without a network.
 */
export async function startSingle(env: Env, log: Logger, internalToken: string): Promise<SingleInstallation> {
  await using resources = new AsyncDisposableStack();
  const named = (service: string) => log.child({ service });
  const onError = (error: unknown) => log.error({ err: error }, "hot call failed unexpectedly");

  const toolRunner = resources.use(await startToolRunner(toolRunnerConfig(env), { log: named("tool-runner") }));
  const toolRunnerTransport = localTransport(toolRunner.routes, log, internalToken);
  const keyAuth = resources.use(
    await startKeyAuth(keyAuthConfig(env), { log: named("key-auth"), toolRunner: toolRunnerTransport }),
  );
  const keyAuthTransport = localTransport(keyAuth.routes, log, internalToken);
  const outboundWebhook = resources.use(
    await startOutboundWebhook(outboundWebhookConfig(env), {
      log: named("outbound-webhook"),
      listAdminEmails: createListAdminEmails(keyAuthTransport),
    }),
  );
  const gateway = resources.use(
    await startGateway(gatewayConfig(env), {
      log: named("gateway"),
      verify: directCall(keyAuth.verify, { onError }),
      run: directCall(toolRunner.run, { onError }),
      upstreams: {
        keyAuth: keyAuthTransport,
        toolRunner: toolRunnerTransport,
        outboundWebhook: localTransport(outboundWebhook.routes, log, internalToken),
      },
    }),
  );

  // Callers before the called: nothing is drained while somebody may still ask it.
  const services = [gateway, keyAuth, toolRunner, outboundWebhook];
  const owned = resources.move();
  return {
    port: gateway.port,
    async ready() {
      await Promise.all(services.map((service) => service.ready()));
    },
    async drain() {
      for (const service of services) await service.drain();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
