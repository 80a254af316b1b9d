import { Code, ConnectError } from "@connectrpc/connect";
import { rpcDuration } from "@toolgate/telemetry/instruments";
import { inSpan, isTracing, SpanKind } from "@toolgate/telemetry/trace";

const MS_PER_SECOND = 1_000;
const SERVER = { kind: SpanKind.SERVER };

/** Serves one RPC, measured and, if the request is traced, in a span. `rpc` is its full name. */
export async function observeRpc<T>(rpc: string, serve: () => Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    const response = await (isTracing() ? inSpan(rpc, serve, SERVER) : serve());
    record(rpc, started, "ok");
    return response;
  } catch (error) {
    const code = error instanceof ConnectError ? error.code : Code.Internal;
    record(rpc, started, Code[code].toLowerCase());
    throw error;
  }
}

function record(rpc: string, startedMs: number, code: string): void {
  rpcDuration.record((performance.now() - startedMs) / MS_PER_SECOND, { rpc, code });
}
