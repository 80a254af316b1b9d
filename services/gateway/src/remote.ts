import { createCallStream } from "@toolgate/call-stream/client";
import { streamTransport } from "@toolgate/call-stream/transport";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { internalTokenInterceptor } from "@toolgate/service-host/access";
import type { Logger } from "@toolgate/service-host/logger";
import { remoteTransport } from "@toolgate/service-host/transport";
import { serverAddresses } from "./clients/addresses.ts";
import type { Config } from "./config.ts";
import { type Gateway, startGateway } from "./service.ts";

const RECONNECT = { minMs: 50, maxMs: 1_000 };

/** The gateway of the split topology: hot calls over call streams, management over unary gRPC. */
export async function startRemoteGateway(
  config: Config,
  { log, internalToken }: { log: Logger; internalToken: string },
): Promise<Gateway> {
  await using resources = new AsyncDisposableStack();
  const stream = {
    transportFor: (address: string) => streamTransport(address, [internalTokenInterceptor(internalToken)]),
    reconnect: RECONNECT,
    onError: (error: unknown) => log.warn({ err: error }, "call stream"),
  };
  const verify = resources.use(
    createCallStream({
      ...stream,
      method: VerifyService.method.verify,
      streamMethod: VerifyService.method.verifyCalls,
      addresses: () => serverAddresses(config.keyAuthUrl),
    }),
  );
  const run = resources.use(
    createCallStream({
      ...stream,
      method: RunService.method.run,
      streamMethod: RunService.method.runCalls,
      addresses: () => serverAddresses(config.toolRunnerUrl),
    }),
  );
  const gateway = await startGateway(config, {
    log,
    verify: verify.call,
    run: run.call,
    upstreams: {
      keyAuth: remoteTransport(config.keyAuthUrl, internalToken),
      toolRunner: remoteTransport(config.toolRunnerUrl, internalToken),
      outboundWebhook: remoteTransport(config.outboundWebhookUrl, internalToken),
    },
  });
  const streams = resources.move();
  return {
    ...gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await streams.disposeAsync();
    },
  };
}
