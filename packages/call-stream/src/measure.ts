import { Code, ConnectError } from "@connectrpc/connect";
import { rpcDuration } from "@toolgate/telemetry/instruments";

const MS_PER_SECOND = 1_000;

/** Counts one served RPC. `error` is what it failed with, if it did. */
export function measureRpc(rpc: string, startedMs: number, error?: unknown): void {
  const code = error === undefined ? "ok" : (Code[codeOf(error)] ?? "Unknown").toLowerCase();
  rpcDuration.record((performance.now() - startedMs) / MS_PER_SECOND, { rpc, code });
}

function codeOf(error: unknown): Code {
  return error instanceof ConnectError ? error.code : Code.Internal;
}
