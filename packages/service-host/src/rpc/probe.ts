import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@toolgate/gen/grpc/health/v1/health_pb";
import type { ProcessTls } from "../tls/process-tls.ts";
import { Http2Connections } from "./http2-connections.ts";

/** What a process says of itself. */
interface Probed {
  isReady: boolean;
  /** Its clock, in whole seconds; undefined if it does not say. */
  nowMs: number | undefined;
}

/**
 * Asks a process for its health over gRPC, on a connection of its own. `address` is one of `serverAddresses`. Rejects when
 * there is no response within `timeoutMs`.
 */
export async function probeRpcServer(address: string, timeoutMs: number, tls?: ProcessTls): Promise<Probed> {
  const baseUrl = new URL(address).origin;
  const connections = new Http2Connections(baseUrl, tls && (() => tls.connectHttp2(address)));
  try {
    const transport = createGrpcTransport({ baseUrl, sessionManager: connections });
    let nowMs: number | undefined;
    const { status } = await createClient(Health, transport).check(
      { service: "" },
      {
        timeoutMs,
        onHeader(headers) {
          nowMs = timeIn(headers);
        },
      },
    );
    return { isReady: status === Status.SERVING, nowMs };
  } finally {
    connections.abort();
  }
}

/** The time in an HTTP header `Date`. */
export function timeIn(headers: Headers): number | undefined {
  const time = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(time) ? undefined : time;
}
