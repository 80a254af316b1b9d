import { randomUUID } from "node:crypto";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { canonicalIp, shortIp } from "@toolgate/ip-address/ip-address";
import type { FastifyRequest } from "fastify";
import type { CallContext } from "../../context.ts";
import { secondsUntilReset } from "../../domain/rate-limit-fields.ts";
import { type ApiResponse, limitReached, TOOL_UNAVAILABLE } from "../../domain/responses.ts";

/** A call with a valid key, on its way to a response. */
export interface VerifiedCall {
  verdict: KeyVerdict;
  tool: string;
  clientIp: string;
  /** Shortened, as it is logged. */
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

/** What is known of a call before anything is waited for. Node forgets the address of a client that has left. */
interface Arrival {
  clientIp: string;
  arrivedAtMs: number;
  started: number;
}

export function arrivalOf({ now }: CallContext, { ip }: FastifyRequest): Arrival {
  return { clientIp: ip, arrivedAtMs: now(), started: performance.now() };
}

/** Verifies the key and counts the call. Undefined: the key is not valid. */
export async function verifyCall(
  { verifyKey }: CallContext,
  { secret, tool, clientIp, arrivedAtMs, started }: Arrival & { secret: string | undefined; tool: string },
): Promise<VerifiedCall | undefined> {
  if (secret === undefined) return undefined;
  const verdict = await verifyKey(secret, { tool, count: true, clientIp: canonicalIp(clientIp) });
  if (!verdict) return undefined;
  return {
    verdict,
    tool,
    clientIp,
    ip: shortIp(clientIp),
    arrivedAtMs,
    started,
    usage: { id: randomUUID(), recorded: "no" },
  };
}

/** The response to a call over its limit or to a locked workspace; undefined for any other. */
export function refusalOf({ verdict }: VerifiedCall, nowMs: number): ApiResponse | undefined {
  if (!verdict.admitted) return limitReached(secondsUntilReset(verdict, nowMs));
  return verdict.workspaceLocked ? TOOL_UNAVAILABLE : undefined;
}
