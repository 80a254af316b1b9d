import { createClient } from "@connectrpc/connect";
import { streamTransport } from "@toolgate/call-stream/transport";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@toolgate/gen/grpc/health/v1/health_pb";
import type { ProcessTls } from "../tls/process-tls.ts";

/**
 * Asks a process over gRPC, on a connection of its own, whether it is ready. `address` is one of `serverAddresses`. Rejects
 * when there is no response within `timeoutMs`.
 */
export async function isServing(address: string, timeoutMs: number, tls?: ProcessTls): Promise<boolean> {
  using transport = streamTransport(address, [], tls && (() => tls.connectHttp2(address)));
  const { status } = await createClient(Health, transport).check({ service: "" }, { timeoutMs });
  return status === Status.SERVING;
}
