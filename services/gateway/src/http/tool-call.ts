import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { GroupCommit } from "@toolgate/event-bus/group-commit";
import { type UsageRecord, UsageRecordSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { RunResponse } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { Logger } from "@toolgate/service-host/logger";
import { shortIp } from "@toolgate/short-ip/short-ip";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { VerifyKey } from "../clients/key-auth.ts";
import type { RunTool, ToolRun } from "../clients/tool-runner.ts";
import {
  type Answer,
  IDEMPOTENCY_KEY_IN_USE,
  IDEMPOTENCY_KEY_REUSED,
  INTERNAL_ERROR,
  invalidParameters,
  limitReached,
  replayed,
  TOOL_FAILED,
  TOOL_UNAVAILABLE,
  toolResult,
  UNAUTHENTICATED,
} from "../domain/answers.ts";
import { apiKeyOf } from "../domain/bearer.ts";
import { canonicalIp } from "../domain/canonical-ip.ts";
import { readIdempotencyKey } from "../domain/idempotency-key.ts";
import { secondsUntilReset } from "../domain/rate-limit-fields.ts";
import { loggedToolName } from "../domain/tool-name.ts";
import { sendAnswer, setLimitHeaders } from "./reply.ts";
import { EMPTY_BODY, type RequestBody } from "./request-body.ts";

export interface ToolCallDependencies {
  verifyKey: VerifyKey;
  runTool: RunTool;
  usage: GroupCommit<UsageRecord>;
  log: Logger;
  now: () => number;
}

/** A call whose key is valid, between authentication and answer. */
export interface AdmittedCall {
  key: KeyVerdict;
  tool: string;
  ip: string;
  arrivedAtMs: number;
  started: number;
}

/** Verifies the key and counts the call, whichever door it came through. Undefined: no valid key. */
export async function beginCall(
  deps: ToolCallDependencies,
  { apiKey, tool, clientIp }: { apiKey: string | undefined; tool: string; clientIp: string },
): Promise<AdmittedCall | undefined> {
  const started = performance.now();
  const arrivedAtMs = deps.now();
  if (apiKey === undefined) return undefined;
  const key = await deps.verifyKey(apiKey, { tool, count: true, clientIp: canonicalIp(clientIp) });
  return key && { key, tool, ip: shortIp(clientIp), arrivedAtMs, started };
}

/** The answer to a call that its limit or its workspace's lock ends. */
export function refusalOf({ key, arrivedAtMs }: AdmittedCall): Answer | undefined {
  if (!key.admitted) return limitReached(secondsUntilReset(key, arrivedAtMs));
  return key.workspaceLocked ? TOOL_UNAVAILABLE : undefined;
}

/** Runs the tool of an admitted call. */
export async function runAdmitted(
  deps: ToolCallDependencies,
  { key, tool, ip }: AdmittedCall,
  sent: Pick<ToolRun, "body" | "bodyFault" | "idempotencyKey">,
): Promise<Answer> {
  try {
    const { outcome, replayed: isReplay } = await deps.runTool(key, { ...sent, tool, ip });
    return isReplay ? replayed(answerOf(outcome)) : answerOf(outcome);
  } catch (error) {
    deps.log.error({ err: error, keyId: key.keyId, tool: loggedToolName(tool) }, "tool call failed unexpectedly");
    return INTERNAL_ERROR;
  }
}

/** [LOG-2] Resolves once the call is in the log for good. */
export async function logCall(deps: ToolCallDependencies, call: AdmittedCall, status: number): Promise<void> {
  const record = create(UsageRecordSchema, {
    id: randomUUID(),
    keyId: call.key.keyId,
    tool: loggedToolName(call.tool),
    status,
    durationMs: Math.round(performance.now() - call.started),
    ip: call.ip,
    atMs: BigInt(call.arrivedAtMs),
  });
  await deps.usage.add(record);
}

/**
 * Everything before the body is read: key, limit, lock. Returns the call, or undefined when it has been answered.
 */
export async function admitCall(
  deps: ToolCallDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AdmittedCall | undefined> {
  const apiKey = apiKeyOf(request.headers.authorization);
  // [TOOL-6] Decoded once by the router.
  const { "*": tool } = request.params as { "*": string };
  const call = await beginCall(deps, { apiKey, tool, clientIp: request.ip });
  if (!call) {
    reply.header("www-authenticate", "Bearer");
    sendAnswer(reply, UNAUTHENTICATED);
    return undefined;
  }
  setLimitHeaders(reply, call.key, call.arrivedAtMs);
  const refusal = refusalOf(call);
  if (!refusal) return call;
  await logCall(deps, call, refusal.status);
  sendAnswer(reply, refusal);
  return undefined;
}

/** Runs the tool of an admitted call and sends the response. */
export async function completeCall(
  deps: ToolCallDependencies,
  call: AdmittedCall,
  reply: FastifyReply,
  body: RequestBody = EMPTY_BODY,
): Promise<FastifyReply> {
  const idempotency = readIdempotencyKey(reply.request.headers["idempotency-key"]);
  const bodyFault = (body.ok ? undefined : body.violation) ?? (idempotency.ok ? undefined : idempotency.violation);
  const answer = await runAdmitted(deps, call, {
    body: body.ok ? body.bytes : EMPTY_BODY.bytes,
    bodyFault,
    idempotencyKey: bodyFault || !idempotency.ok ? "" : idempotency.key,
  });
  await logCall(deps, call, answer.status);
  return sendAnswer(reply, answer);
}

function answerOf(outcome: RunResponse["outcome"]): Answer {
  switch (outcome.case) {
    case "resultJson":
      return toolResult(outcome.value);
    case "invalidArguments":
      return invalidParameters(outcome.value.violations);
    case "toolFailed":
      return TOOL_FAILED;
    case "unavailable":
      return TOOL_UNAVAILABLE;
    case "idempotencyMismatch":
      return IDEMPOTENCY_KEY_REUSED;
    case "idempotencyInProgress":
      return IDEMPOTENCY_KEY_IN_USE;
    default:
      // The first call's outcome is not known, or it is one that this gateway does not know.
      return INTERNAL_ERROR;
  }
}
