import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  IdempotencyInProgressSchema,
  IdempotencyMismatchSchema,
  InvalidArgumentsSchema,
  type RunRequest,
  type RunResponse,
  RunResponseSchema,
  ToolFailedSchema,
  UnavailableSchema,
  ViolationSchema,
} from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { Caller } from "../execution/call-scope.ts";
import { type CallOutcome, type RunCallDependencies, runCall } from "../execution/run-call.ts";

export type RunHandler = CallHandler<RunRequest, RunResponse>;

const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;
const MAX_CALLER_TEXT_CHARACTERS = 500;

export function runHandler(deps: RunCallDependencies): RunHandler {
  return async (request, context) => {
    const { caller } = request;
    if (caller.case === undefined) throw new ConnectError("caller: missing", Code.InvalidArgument);
    if (caller.case !== "key") refuseFaultOf(caller, request.idempotencyKey);
    if (request.idempotencyKey.length > MAX_IDEMPOTENCY_KEY_CHARACTERS || request.idempotencyKey.includes("\0")) {
      throw new ConnectError("idempotency_key: 1 to 255 characters", Code.InvalidArgument);
    }
    return runResponse(await runCall(deps, request, caller, () => context.signal));
  };
}

/** What a caller from inside has to mend. */
function refuseFaultOf({ value }: Exclude<Caller, { case: "key" }>, idempotencyKey: string): void {
  const refuse = (fault: string) => {
    throw new ConnectError(fault, Code.InvalidArgument);
  };
  if (idempotencyKey !== "") refuse("idempotency_key: for calls by key");
  if ("hop" in value && value.hop !== 1 && value.hop !== 2) refuse("caller.hop: neither 1 nor 2");
  const { $typeName: _, ...members } = value;
  for (const [name, member] of Object.entries(members)) {
    if (typeof member === "string" && (member.length > MAX_CALLER_TEXT_CHARACTERS || member.includes("\0"))) {
      refuse(`caller.${name}: at most ${MAX_CALLER_TEXT_CHARACTERS} characters, without NUL`);
    }
  }
}

function runResponse(outcome: CallOutcome): RunResponse {
  if (outcome.kind === "unavailable") {
    return create(RunResponseSchema, { outcome: { case: "unavailable", value: create(UnavailableSchema) } });
  }
  if (outcome.kind === "invalid") {
    const violations = outcome.violations.map((violation) => create(ViolationSchema, violation));
    const value = create(InvalidArgumentsSchema, { violations });
    return create(RunResponseSchema, { outcome: { case: "invalidArguments", value } });
  }
  if (outcome.kind === "mismatch") {
    const value = create(IdempotencyMismatchSchema);
    return create(RunResponseSchema, { outcome: { case: "idempotencyMismatch", value } });
  }
  if (outcome.kind === "in-progress") {
    const value = create(IdempotencyInProgressSchema);
    return create(RunResponseSchema, { outcome: { case: "idempotencyInProgress", value } });
  }
  const { executionId, durationMs, replayed } = outcome;
  const ran = { executionId, durationMs, replayed };
  if (outcome.kind === "failed") {
    return create(RunResponseSchema, { ...ran, outcome: { case: "toolFailed", value: create(ToolFailedSchema) } });
  }
  const value = Buffer.from(outcome.resultJson);
  return create(RunResponseSchema, { ...ran, outcome: { case: "resultJson", value } });
}
