import { randomUUID } from "node:crypto";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { canonicalIp, shortIp } from "@toolgate/ip-address/ip-address";
import type { CallContext } from "../../context.ts";
import { secondsUntilReset } from "../../domain/rate-limit-fields.ts";
import { type ApiResponse, limitReached, TOOL_UNAVAILABLE } from "../../domain/responses.ts";

/** A call with a valid key, on its way to a response. */
export interface VerifiedCall {
  verdict: KeyVerdict;
  tool: string;
  ip: string;
  arrivedAtMs: number;
  started: number;
  usage: CallUsage;
}

/** A call's usage record, as far as it is known. */
interface CallUsage {
  readonly id: string;
  /** Whether tool-runner has recorded the call. */
  recorded: "no" | "yes" | "perhaps";
}

/** Verifies the key and counts the call. Undefined: the key is not valid. */
export async function verifyCall(
  { verifyKey, now }: CallContext,
  { secret, tool, clientIp }: { secret: string | undefined; tool: string; clientIp: string },
): Promise<VerifiedCall | undefined> {
  const started = performance.now();
  const arrivedAtMs = now();
  if (secret === undefined) return undefined;
  const verdict = await verifyKey(secret, { tool, count: true, clientIp: canonicalIp(clientIp) });
  if (!verdict) return undefined;
  return { verdict, tool, ip: shortIp(clientIp), arrivedAtMs, started, usage: { id: randomUUID(), recorded: "no" } };
}

/** The response to a call over its limit or to a locked workspace; undefined when the tool may run. */
export function refusalOf({ verdict, arrivedAtMs }: VerifiedCall): ApiResponse | undefined {
  if (!verdict.admitted) return limitReached(secondsUntilReset(verdict, arrivedAtMs));
  return verdict.workspaceLocked ? TOOL_UNAVAILABLE : undefined;
}
