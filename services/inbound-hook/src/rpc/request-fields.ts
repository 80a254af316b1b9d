import { Code, ConnectError } from "@connectrpc/connect";
import type { HookKey } from "../store/hooks.ts";

const MAX_ID = BigInt(Number.MAX_SAFE_INTEGER);

/** An impossible id gets the same response as one of another workspace. */
export function hookKey({ workspaceId }: { workspaceId: string }, hookId: bigint): HookKey {
  if (hookId < 1n || hookId > MAX_ID) throw noSuchHook();
  return { workspaceId, hookId: Number(hookId) };
}

export function noSuchHook(): ConnectError {
  return new ConnectError("no such hook", Code.NotFound);
}

export function invalidArgument(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}

/** Throws invalid_argument if there is a violation. */
export function refuseIf(violation: string | undefined): void {
  if (violation !== undefined) throw invalidArgument(violation);
}
